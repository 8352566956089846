/** Sessions of OAuth clients. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type { StoredAuthentication } from '../tables/oauth-server.ts'

interface EndedSession {
  id: string
  user_id: string
}

/** A client, or one of its users. */
export interface ClientGrants {
  client_id: string
  user_id?: string
}

export function deleteClientSessions(
  trx: Trx,
  { client_id, user_id }: ClientGrants,
): Promise<EndedSession[]> {
  return trx
    .deleteFrom('sessions')
    .where('oauth_client_id', '=', client_id)
    .$if(user_id !== undefined, (qb) => qb.where('user_id', '=', user_id ?? ''))
    .returning(['id', 'user_id'])
    .execute()
}

const findDetails = queryOne((db, value: ParamOf<{ sessionId: string }>) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('postern_oauth_sessions as details', 'details.session_id', 'sessions.id')
    .select(['sessions.scopes', 'users.aud', 'details.resources', 'details.userinfo_claims'])
    .select(['users.id', 'users.is_sso_user', 'users.is_anonymous'])
    .select(['users.email', 'users.email_confirmed_at', 'users.phone', 'users.phone_confirmed_at'])
    .where('sessions.id', '=', value('sessionId')),
)

/** The grant of a session; without details for one that GoTrue created. */
export function findClientSession(db: Db, sessionId: string) {
  return findDetails(db, { sessionId })
}

/** Whether a session of the client was granted all these resource servers by the user. */
export async function hasGrantedResources(
  db: Db,
  { userId, clientId }: { userId: string; clientId: string },
  resources: readonly string[],
): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('postern_oauth_sessions as details', 'details.session_id', 'sessions.id')
    .select(sql`1`.as('one'))
    .where('sessions.user_id', '=', userId)
    .where('sessions.oauth_client_id', '=', clientId)
    .where(sql<boolean>`details.resources @> ${[...resources]}::text[]`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * The second factor of the session that approved a request; null without a session. Undefined when the session has
 * ended, or lost the level that it had then, because its factor was removed.
 */
export async function findApprovingFactor(
  db: Db,
  { session_id, aal }: Pick<StoredAuthentication, 'session_id' | 'aal'>,
): Promise<{ factor_id: string | null } | undefined> {
  if (session_id === null) return { factor_id: null }
  return db
    .selectFrom('sessions')
    .select('factor_id')
    .where('id', '=', session_id)
    .where(sql<boolean>`coalesce(aal, 'aal1') >= ${aal}`)
    .executeTakeFirst()
}

/** Deletes the codes and device codes that a user approved; pending requests are kept. */
export function deleteApprovedCodes(trx: Trx, userId: string): Promise<void> {
  return deleteAuthorizations(trx, { user_id: userId }, { status: 'approved' })
}

/** Deletes the device codes and the requests and codes, all of them or those with a status. */
export async function deleteAuthorizations(
  trx: Trx,
  of: ClientGrants | { user_id: string },
  only: { status?: 'approved' } = {},
): Promise<void> {
  await trx
    .with('devices', (db) =>
      db.deleteFrom('postern_oauth_device_codes').where((eb) => eb.and({ ...of })),
    )
    .deleteFrom('oauth_authorizations')
    .where((eb) => eb.and({ ...of, ...only }))
    .execute()
}
