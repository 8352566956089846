/** Authorization requests, pushed ones too (RFC 9126), from the redirect of the client to the exchange of the code. */
import type { Db, Trx } from '../core/database.ts'
import { isUnreadable } from '../core/stored-json.ts'
import type {
  OauthAuthorizationsTable,
  OauthRequestParameters,
  StoredAuthentication,
} from '../tables/oauth-server.ts'

interface NewAuthorization
  extends Pick<
    OauthAuthorizationsTable,
    | 'authorization_id'
    | 'client_id'
    | 'redirect_uri'
    | 'scope'
    | 'state'
    | 'resource'
    | 'code_challenge'
    | 'code_challenge_method'
    | 'nonce'
    | 'expires_at'
  > {
  parameters: OauthRequestParameters
}

/** A pending request. */
export async function insertAuthorization(
  db: Db,
  { parameters, ...request }: NewAuthorization,
  now: Date,
): Promise<void> {
  const id = crypto.randomUUID()
  await db
    .with('request', (eb) =>
      eb.insertInto('oauth_authorizations').values({
        ...request,
        id,
        user_id: null,
        authorization_code: null,
        approved_at: null,
        created_at: now,
      }),
    )
    .insertInto('postern_oauth_requests')
    .values({ ...unanswered, id, parameters: JSON.stringify(parameters) })
    .execute()
}

const unanswered = {
  session_id: null,
  auth_time: null,
  aal: null,
  amr: null,
  code_expires_at: null,
  consumed_at: null,
  issued_session_id: null,
}

const columns = [
  'oauth_authorizations.id',
  'oauth_authorizations.authorization_id',
  'oauth_authorizations.client_id',
  'oauth_authorizations.user_id',
  'oauth_authorizations.redirect_uri',
  'oauth_authorizations.scope',
  'oauth_authorizations.state',
  'oauth_authorizations.code_challenge',
  'oauth_authorizations.code_challenge_method',
  'oauth_authorizations.nonce',
  'oauth_authorizations.status',
  'oauth_authorizations.authorization_code',
  'oauth_authorizations.created_at',
  'oauth_authorizations.expires_at',
  'details.parameters',
  'details.session_id',
  'details.auth_time',
  'details.aal',
  'details.amr',
  'details.code_expires_at',
  'details.consumed_at',
  'details.issued_session_id',
] as const

/** A stored request. Requests that GoTrue stored have no details. */
export type StoredAuthorization = Omit<
  OauthAuthorizationsTable,
  'response_type' | 'status' | 'approved_at' | 'resource'
> & {
  status: 'pending' | 'approved' | 'denied' | 'expired'
  parameters: OauthRequestParameters | null
  session_id: string | null
  auth_time: Date | null
  aal: 'aal1' | 'aal2' | 'aal3' | null
  amr: string[] | null
  code_expires_at: Date | null
  consumed_at: Date | null
  issued_session_id: string | null
}

const select = (db: Db) =>
  db
    .selectFrom('oauth_authorizations')
    .leftJoin('postern_oauth_requests as details', 'details.id', 'oauth_authorizations.id')
    .select(columns)

/** Finds a request by the id that browsers send. */
export async function findAuthorization(
  db: Db,
  authorizationId: string,
): Promise<StoredAuthorization | undefined> {
  const query = select(db).where('authorization_id', '=', authorizationId)
  return readable(await query.executeTakeFirst())
}

/** The same, locked until the transaction ends: concurrent changes of the request are serialized. */
export async function lockAuthorization(
  trx: Trx,
  authorizationId: string,
): Promise<StoredAuthorization | undefined> {
  const query = select(trx).where('authorization_id', '=', authorizationId)
  return readable(await query.forUpdate('oauth_authorizations').executeTakeFirst())
}

/** A request by the hash of its code. */
export async function findAuthorizationByCode(
  db: Db,
  hash: string,
): Promise<StoredAuthorization | undefined> {
  const query = select(db).where('authorization_code', '=', hash)
  return readable(await query.executeTakeFirst())
}

/** A request by the hash of its code, locked until the transaction ends. */
export async function lockAuthorizationByCode(
  trx: Trx,
  hash: string,
): Promise<StoredAuthorization | undefined> {
  const query = select(trx).where('authorization_code', '=', hash)
  return readable(await query.forUpdate('oauth_authorizations').executeTakeFirst())
}

/** Without its parameters, a request would be for every resource server and for any sign-in. */
function readable(request: StoredAuthorization | undefined): StoredAuthorization | undefined {
  return request?.parameters && isUnreadable(request.parameters) ? undefined : request
}

/** Binds a pending request to the user who reads it. */
export async function bindAuthorization(trx: Trx, id: string, userId: string): Promise<void> {
  await trx
    .updateTable('oauth_authorizations')
    .set({ user_id: userId })
    .where('id', '=', id)
    .execute()
}

/** Closes a request without a code. */
export async function closeAuthorization(
  trx: Trx,
  id: string,
  status: 'denied' | 'expired',
): Promise<void> {
  await trx.updateTable('oauth_authorizations').set({ status }).where('id', '=', id).execute()
}

interface Approval extends StoredAuthentication {
  id: string
  codeHash: string
  codeExpiresAt: Date
}

/** Approves the request: stores its code, and how the user was authenticated. */
export async function approveAuthorization(
  trx: Trx,
  { id, codeHash, codeExpiresAt, session_id, auth_time, aal, amr }: Approval,
  now: Date,
): Promise<void> {
  const approved = { session_id, auth_time, aal, amr, code_expires_at: codeExpiresAt }
  await trx
    .with('approved', (eb) =>
      eb
        .updateTable('oauth_authorizations')
        .set({ status: 'approved', approved_at: now, authorization_code: codeHash })
        .where('id', '=', id),
    )
    .insertInto('postern_oauth_requests')
    .values({ ...unanswered, ...approved, id, parameters: '{}' })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(approved))
    .execute()
}

/** Records that the code was exchanged for a session. */
export async function consumeAuthorization(
  trx: Trx,
  id: string,
  sessionId: string,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_oauth_requests')
    .set({ consumed_at: now, issued_session_id: sessionId })
    .where('id', '=', id)
    .execute()
}

interface PushedRequest {
  client_id: string
  parameters: Record<string, string | readonly string[]>
}

export async function insertPushedRequest(
  db: Db,
  { id, client_id, parameters, expiresAt }: PushedRequest & { id: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  await db
    .insertInto('postern_oauth_pushed_requests')
    .values({
      id,
      client_id,
      parameters: JSON.stringify(parameters),
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
}

/** Consumes a request URI, which is valid once (RFC 9126 §7.3). */
export function consumePushedRequest(
  db: Db,
  id: string,
  clientId: string,
  now: Date,
): Promise<PushedRequest | undefined> {
  return db
    .deleteFrom('postern_oauth_pushed_requests')
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['client_id', 'parameters'])
    .executeTakeFirst()
}
