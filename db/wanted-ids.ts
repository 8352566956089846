import { type AliasedExpression, type Expression, type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'

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

/**
 * Locks the people with these ids, which must be in order, so that no two transactions wait for each other. Each is looked
 * up by id, for the same reason.
 */
export function lockEach(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  idsInOrder: AliasedExpression<{ id: string }, 'wanted'>,
) {
  return db
    .selectFrom(idsInOrder)
    .innerJoinLateral(
      db
        .selectFrom('users')
        .select('users.id')
        .where('users.id', '=', wantedId)
        .forUpdate()
        .as('held'),
      (join) => join.onTrue(),
    )
    .select('held.id')
}
