/**
 * Accounts that a SCIM client deactivated. A deactivation is separate from a ban, is kept when the connection or the
 * provisioned user is deleted, and is lifted by a SCIM client or an admin.
 */
import { type Expression, expressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { type ParamOf, queryOne, queryOneOrThrow } from '../core/statement.ts'
import type { DeactivationsTable } from '../tables/scim.ts'

const { exists, selectFrom } = expressionBuilder<Database>()

export const hasDeactivation = (userId: Expression<string>) =>
  exists(
    selectFrom('postern_deactivations')
      .select(sql`1`.as('one'))
      .where('postern_deactivations.user_id', '=', userId),
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

/** The latest connection is stored. */
export async function upsertDeactivation(
  trx: Trx,
  row: Pick<DeactivationsTable, 'user_id' | 'connection_id'>,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('postern_deactivations')
    .values({ ...row, created_at: now })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ connection_id: row.connection_id }),
    )
    .execute()
}

/** Returns true when there was one; without a connection, of any. */
export async function deleteDeactivation(
  trx: Trx,
  userId: string,
  connectionId?: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('postern_deactivations')
    .where('user_id', '=', userId)
    .$if(connectionId !== undefined, (qb) => qb.where('connection_id', '=', connectionId ?? ''))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

const findOfUser = queryOne((db, value: ParamOf<{ userId: string }>) =>
  db
    .selectFrom('postern_deactivations')
    .select('postern_deactivations.created_at')
    .where('postern_deactivations.user_id', '=', value('userId')),
)

export async function findDeactivatedAt(db: Db, userId: string): Promise<Date | undefined> {
  return (await findOfUser(db, { userId }))?.created_at
}

/** Whether the user is deactivated at this connection, whatever other access the account has. */
export async function isDeactivatedAt(
  db: Db,
  userId: string,
  connectionId: string,
): Promise<boolean> {
  const found = await db
    .selectFrom('scim_users')
    .select('id')
    .where('user_id', '=', userId)
    .where('sso_provider_id', '=', connectionId)
    .where('deleted_at', 'is', null)
    .where('active', '=', false)
    .executeTakeFirst()
  return found !== undefined
}
