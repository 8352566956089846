/** The state of a user who was deactivated by a SCIM client. It is separate from a ban, which only an admin lifts. */
import { type Expression, expressionBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { type ParamOf, queryOne, queryOneOrThrow } from '../core/statement.ts'

const { exists, selectFrom } = expressionBuilder<Database>()

/** Whether a provisioned user of the account is not active. */
export const hasDeactivation = (userId: Expression<string>) =>
  exists(
    selectFrom('scim_users')
      .select(sql`1`.as('one'))
      .where('scim_users.user_id', '=', userId)
      .where('scim_users.deleted_at', 'is', null)
      .where('scim_users.active', '=', sql.lit(false)),
  )

const find = queryOneOrThrow((db, value: ParamOf<{ userId: string }>) =>
  db.selectNoFrom(
    hasDeactivation(sql`${value('userId')}::uuid`)
      .$castTo<boolean>()
      .as('found'),
  ),
)

export async function isDeactivated(db: Db, userId: string): Promise<boolean> {
  return (await find(db, { userId })).found
}

const end = queryOne((db, value: ParamOf<{ sessionId: string }>) =>
  db
    .deleteFrom('sessions')
    .where('sessions.id', '=', value('sessionId'))
    .where(hasDeactivation(sql.ref('sessions.user_id')))
    .returning('sessions.id'),
)

/** Deletes a session of a deactivated user. Returns true when there was one. */
export async function deleteDeactivatedSession(db: Db, sessionId: string): Promise<boolean> {
  return (await end(db, { sessionId })) !== undefined
}
