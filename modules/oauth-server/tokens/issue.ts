/** Creates a client's session and issues its tokens. */
import type { Trx } from '../../../db/core/database.ts'
import { touchClient } from '../../../db/oauth-server/client-usage.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { Session } from '../../../schemas/session.ts'
import { createAuditEntry } from '../../audit/index.ts'
import type { CreatedSession } from '../../sessions/create.ts'
import { createSession, toTokenResponse } from '../../sessions/index.ts'
import type { Client } from '../clients/client.ts'
import { scopeList } from '../scopes.ts'
import { listTokenAudiences, narrowResources } from './audience.ts'
import { makeIdToken } from './id-token.ts'
import type { Origin } from './origin.ts'

export type IssueDeps = Deps<'audit' | 'config' | 'jwt' | 'sessions'>

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

/** Creates the client's session in the caller's transaction. Throws invalid_target, token_too_large. */
export async function openClientSession(
  { audit, sessions }: IssueDeps,
  trx: Trx,
  grant: UserGrant,
  { client: info, ip }: Origin,
  now: Date,
): Promise<OpenedGrant> {
  const { client, user, scope, granted, resources, signIn, factorId, method } = grant
  const audience = listTokenAudiences(client, narrowResources(granted, resources), user.aud)
  const provider_type = method.replace('/', '_')
  const entry = createAuditEntry(audit, 'login', user, ip, { provider_type, client_id: client.id })
  const stored = await createSession(
    sessions,
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
        userinfo_claims: [...grant.userinfoNames],
        factor_id: factorId,
      },
    },
    now,
  )
  if (client.row.registration_type === 'dynamic') await touchClient(trx, client.id, now)
  return { grant, stored, sessionId: stored.facts.session.session_id }
}

/** The response, after the commit. Throws token_too_large or HookError. */
export async function issueTokens(
  deps: IssueDeps,
  { grant, stored, sessionId }: OpenedGrant,
  now: Date,
): Promise<TokenResponse> {
  const session = await toTokenResponse(deps.sessions, stored, now)
  const response = toOauthTokenResponse(grant.client, session, grant.scope)
  if (!scopeList(grant.scope).includes('openid')) return response
  const source = { ...grant, sessionId, accessToken: session.access_token }
  return { ...response, id_token: await makeIdToken(deps, source, now) }
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
