/** Creates a client's session and issues its tokens. */
import { createHash } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { touchClient } from '../../../db/oauth-server/clients.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import { listAssumedAddresses } from '../../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import { ApiError, HookError, refusedGrant } from '../../../schemas/errors.ts'
import type { VerifiedContacts } from '../../../schemas/oauth/shared-metadata.ts'
import type { Session } from '../../../schemas/session.ts'
import { createAuditEntry } from '../../audit/index.ts'
import type { CreatedSession } from '../../sessions/create.ts'
import { createSession, toTokenResponse } from '../../sessions/index.ts'
import type { Client } from '../clients/client.ts'
import { scopeList } from '../scopes.ts'
import { hasDataAccess, listTokenAudiences, narrowResources } from './audience.ts'
import { idTokenClaims } from './claims.ts'

/** What a user granted. */
interface UserGrant {
  client: Client
  user: UserRecord
  scope: string
  /** The granted resource servers, and those of the first token. */
  granted: readonly string[]
  resources: readonly string[]
  signIn: StoredAuthentication
  /** Of the session that approved it. */
  factorId: string | null
  nonce: string | null
  /** Individually requested claims (OpenID Connect Core §5.5). */
  idTokenNames: readonly string[]
  userinfoNames: readonly string[]
  method: 'oauth_provider/authorization_code' | 'oauth_provider/device_code'
}

/** A sign-out revokes what was approved, and so does the removal of the second factor that was verified for it. */
export const approvalIsOver =
  'The session of the approval was revoked or has expired, or its second factor was removed'

export interface OpenedGrant {
  grant: UserGrant
  stored: CreatedSession
  sessionId: string
  verified: VerifiedContacts
}

/** RFC 6749 §5.1. */
export interface TokenResponse {
  access_token: string
  token_type: string
  expires_in: number
  refresh_token?: string
  id_token?: string
  scope: string
}

/** Creates the client's session in the caller's transaction. Throws invalid_target, invalid_grant, token_too_large. */
export async function openClientSession(
  app: FastifyInstance,
  trx: Trx,
  grant: UserGrant,
  { client: info, ip }: Origin,
  now: Date,
): Promise<OpenedGrant> {
  const { audit } = app
  const { client, user, scope, granted, resources, signIn, factorId, method } = grant
  const narrowed = narrowResources(granted, resources)
  if (narrowed instanceof ApiError) throw narrowed
  const audience = listTokenAudiences(app, client, narrowed, user.aud)
  const verified = await findVerifiedContacts(trx, user)
  const provider_type = method.replace('/', '_')
  const entry = createAuditEntry(audit, 'login', user, ip, { provider_type, client_id: client.id })
  const stored = await createSession(
    app,
    trx,
    user,
    {
      method,
      clientInfo: info,
      audit: entry,
      aal: signIn.aal,
      grant: {
        oauth_client_id: client.id,
        clientId: client.clientId,
        scopes: scope,
        resources: [...granted],
        auth_time: signIn.auth_time,
        audience,
        verified,
        hasDataAccess: hasDataAccess(app, client),
        userinfo_claims: [...grant.userinfoNames],
        factor_id: factorId,
      },
    },
    now,
  ).catch(rejectGrant)
  if (client.row.registration_type === 'dynamic') await touchClient(trx, client.id, now)
  return { grant, stored, sessionId: stored.facts.session.session_id, verified }
}

/** The response, after the commit. Throws token_too_large or HookError. */
export async function issueTokens(
  app: FastifyInstance,
  { grant, stored, sessionId, verified }: OpenedGrant,
  now: Date,
): Promise<TokenResponse> {
  const session = await toTokenResponse(app, stored, now)
  const response = toOauthTokenResponse(grant.client, session, grant.scope)
  if (!scopeList(grant.scope).includes('openid')) return response
  const source = { ...grant, sessionId, verified, accessToken: session.access_token }
  return { ...response, id_token: await makeIdToken(app, source, now) }
}

/** Without the user: a client gets user data from the ID token and the userinfo endpoint. */
export function toOauthTokenResponse(
  { grantTypes }: Client,
  { access_token, token_type, expires_in, refresh_token }: Session,
  scope: string,
): TokenResponse {
  const mayRefresh = grantTypes.includes('refresh_token')
  return {
    access_token,
    token_type,
    expires_in,
    ...(mayRefresh && { refresh_token }),
    scope,
  }
}

// ID tokens (OpenID Connect Core §2), which identify the user to the client.

interface IdTokenSource {
  client: Client
  user: UserRecord
  signIn: StoredAuthentication
  scope: string
  nonce: string | null
  accessToken: string
  sessionId: string
  verified: VerifiedContacts
  /** Individually requested claims. */
  idTokenNames: readonly string[]
}

/** Seconds. */
const lifetime = 3600

/** RFC 8176 names of this server's methods. */
const amrNames: Record<string, string> = {
  password: 'pwd',
  totp: 'otp',
  'mfa/phone': 'sms',
  'mfa/webauthn': 'hwk',
  passkey: 'hwk',
}

/** Signs the token with a key whose public part clients can fetch. */
function makeIdToken(
  { config, jwt }: FastifyInstance,
  source: IdTokenSource,
  now: Date,
): Promise<string> {
  const { client, user, signIn, scope, nonce, accessToken, sessionId } = source
  const iat = Math.floor(now.getTime() / 1000)
  const amr = [...new Set(signIn.amr.map((method) => amrNames[method] ?? method))]
  return jwt.signIdToken({
    iss: jwt.issuer,
    sub: user.id,
    aud: client.clientId,
    azp: client.clientId,
    iat,
    exp: iat + lifetime,
    auth_time: Math.floor(signIn.auth_time.getTime() / 1000),
    ...(nonce && { nonce }),
    acr: signIn.aal,
    amr: signIn.aal === 'aal1' ? amr : [...amr, 'mfa'],
    sid: sessionId,
    at_hash: hashOfToken(accessToken, jwt.keys.ring.idTokenSigning?.alg ?? 'RS256'),
    client_id: client.clientId,
    ...idTokenClaims(config, source, { scopes: scopeList(scope), names: source.idTokenNames }),
  })
}

/** OpenID Connect Core §3.1.3.6: the left half of the hash that the signature uses. */
function hashOfToken(token: string, alg: string): string {
  const digest = createHash(alg === 'EdDSA' || alg.endsWith('512') ? 'sha512' : 'sha256')
  const hash = digest.update(token).digest()
  return hash.subarray(0, hash.length / 2).toString('base64url')
}

/** The origin of a token request. */
export interface Origin {
  client: ClientInfo
  ip: string
}

/** The user was banned, deleted or deactivated since the approval. */
const accountCodes = ['user_banned', 'user_deactivated', 'user_not_found']

/** Rethrows every error of the grant or its user as invalid_grant (RFC 6749 §5.2), with the code that GoTrue has for it. */
export function rejectGrant(error: unknown): never {
  if (!(error instanceof ApiError) || error instanceof HookError) throw error
  throw error.status === 400 || accountCodes.includes(error.errorCode) ? refusedGrant(error) : error
}

type Contacts = Pick<
  UserRecord,
  | 'id'
  | 'email'
  | 'email_confirmed_at'
  | 'phone'
  | 'phone_confirmed_at'
  | 'is_sso_user'
  | 'is_anonymous'
>

/**
 * Whether clients may rely on the addresses of a user (OpenID Connect Core §5.1): true only for an address that its holder confirmed to this server, that a provider verified by the rules of account
 * linking, or that the operator confirmed. A client may link its own account by it, so an address that anyone could have
 * entered, or that the identity provider of a tenant asserts, is not verified (docs/oauth-server.md).
 */
export async function findVerifiedContacts(db: Db, user: Contacts): Promise<VerifiedContacts> {
  const { email, phone, is_sso_user, is_anonymous } = user
  const isEmailConfirmed = Boolean(email && user.email_confirmed_at)
  const isPhoneConfirmed = Boolean(phone && user.phone_confirmed_at)
  if (!isEmailConfirmed && !isPhoneConfirmed) return { email: false, phone: false }
  const assumed = await listAssumedAddresses(db, user.id)
  return {
    email: isEmailConfirmed && !is_sso_user && !is_anonymous && !assumed.includes(email ?? ''),
    phone: isPhoneConfirmed && !assumed.includes(phone ?? ''),
  }
}
