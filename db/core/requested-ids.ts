import { type AliasedExpression, type Expression, type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'

/**
 * The ids as rows, for a lateral join that looks each up by key. With `= any($1)`, a plan cached while a table was
 * small would scan the whole table after it has grown. In a subselect the planner cannot estimate their number and
 * would plan every execution again, which takes longer than the look-up.
 */
export function selectEachId(db: Db, ids: Expression<readonly string[]>) {
  return db.selectFrom(
    sql<{ id: string }>`unnest((select ${ids}::uuid[]))`.as<'requested'>(sql`requested(id)`),
  )
}

export const requestedId = sql<string>`requested.id`

/**
 * Locks the users with these ids. The ids must be sorted, so that transactions cannot deadlock. Each is looked up by
 * key, for the reason above.
 */
export function lockEach(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  idsInOrder: AliasedExpression<{ id: string }, 'requested'>,
) {
  return db
    .selectFrom(idsInOrder)
    .innerJoinLateral(
      db
        .selectFrom('users')
        .select('users.id')
        .where('users.id', '=', requestedId)
        .forUpdate()
        .as('locked'),
      (join) => join.onTrue(),
    )
    .select('locked.id')
}
