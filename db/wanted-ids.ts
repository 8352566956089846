import { type Expression, sql } from 'kysely'

import type { Db } from './database.ts'

/**
 * The ids as rows, to each of which a look-up by key is joined laterally. With `= any($1)`, a plan that was made while
 * a table was small reads all of it, and is kept when the table has grown. Behind a select, the planner cannot count the
 * ids: it would make a plan for their number again and again, which takes longer than the look-up.
 */
export function eachOf(db: Db, ids: Expression<readonly string[]>) {
  return db.selectFrom(
    sql<{ id: string }>`unnest((select ${ids}::uuid[]))`.as<'wanted'>(sql`wanted(id)`),
  )
}

export const wantedId = sql<string>`wanted.id`
