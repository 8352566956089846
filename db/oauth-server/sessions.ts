/** Sessions of OAuth clients. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'

export interface EndedSession {
  id: string
  user_id: string
}

/** Deletes the sessions of a client, or only those of one user. */
export function deleteClientSessions(
  trx: Trx,
  clientId: string,
  userId?: string,
): Promise<EndedSession[]> {
  return trx
    .deleteFrom('sessions')
    .where('oauth_client_id', '=', clientId)
    .$if(userId !== undefined, (qb) => qb.where('user_id', '=', userId ?? ''))
    .returning(['id', 'user_id'])
    .execute()
}

const findDetails = queryOne((db, value: ParamOf<{ sessionId: string }>) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('postern_oauth_sessions as details', 'details.session_id', 'sessions.id')
    .select(['sessions.scopes', 'users.aud', 'details.resources', 'details.userinfo_claims'])
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

/** Whether the session that approved a request still exists. */
export async function isSessionLive(db: Db, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .select(sql`1`.as('one'))
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes the pending requests, codes and device codes of a client. */
export async function deleteAuthorizationsOfClient(trx: Trx, clientId: string): Promise<void> {
  await trx
    .with('devices', (eb) =>
      eb.deleteFrom('postern_oauth_device_codes').where('client_id', '=', clientId),
    )
    .deleteFrom('oauth_authorizations')
    .where('client_id', '=', clientId)
    .execute()
}

/** Deletes the pending requests, codes and device codes of a user at all clients. */
export async function deleteAuthorizationsOfUser(trx: Trx, userId: string): Promise<void> {
  await trx
    .with('devices', (eb) =>
      eb.deleteFrom('postern_oauth_device_codes').where('user_id', '=', userId),
    )
    .deleteFrom('oauth_authorizations')
    .where('user_id', '=', userId)
    .execute()
}

/** Deletes the codes and device codes that a user approved; requests that wait for the user stay. */
export async function deleteApprovedCodes(trx: Trx, userId: string): Promise<void> {
  await trx
    .with('devices', (eb) =>
      eb.deleteFrom('postern_oauth_device_codes').where('user_id', '=', userId),
    )
    .deleteFrom('oauth_authorizations')
    .where('user_id', '=', userId)
    .where('status', '=', 'approved')
    .execute()
}

/** Deletes the pending requests, codes and device codes of a user at a client. */
export async function deleteAuthorizationsOfGrant(
  trx: Trx,
  userId: string,
  clientId: string,
): Promise<void> {
  await trx
    .with('devices', (eb) =>
      eb
        .deleteFrom('postern_oauth_device_codes')
        .where('user_id', '=', userId)
        .where('client_id', '=', clientId),
    )
    .deleteFrom('oauth_authorizations')
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .execute()
}
