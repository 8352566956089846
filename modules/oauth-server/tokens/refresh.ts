/** The refresh grant of clients (RFC 6749 §6), with the same sessions as users. */
import type { FastifyInstance } from 'fastify'

import { findClientSession } from '../../../db/oauth-server/sessions.ts'
import { findSessionById, type TokenSession } from '../../../db/sessions/sessions.ts'
import { isBanned } from '../../../db/users/users.ts'
import type { AccessTokenClaims } from '../../../schemas/access-token.ts'
import { ApiError, invalidScope, oauthInvalidRequest } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { isSameUri } from '../../../schemas/values/uris.ts'
import { recordAudit } from '../../audit/index.ts'
import {
  findSessionByRefreshToken,
  type GrantedScope,
  refreshSession,
  revokeSession,
  sessionIdOfRefreshToken,
} from '../../sessions/index.ts'
import type { Client } from '../clients/client.ts'
import { covers, scopeList } from '../scopes.ts'
import { hasDataAccess, listTokenAudiences, narrowResources } from './audience.ts'
import {
  findVerifiedContacts,
  type Origin,
  rejectGrant,
  type TokenResponse,
  toOauthTokenResponse,
} from './issue.ts'

interface RefreshRequest {
  refreshToken: string | undefined
  scope: string | undefined
  resources: readonly string[]
}

/**
 * Throws invalid_grant for every token that cannot be used, also when the request asks for too much: a client that is
 * told invalid_target or invalid_scope instead would not let its user sign in again. Throws invalid_request,
 * invalid_scope or invalid_target otherwise, and conflict, token_too_large or HookError.
 */
export async function refreshClient(
  app: FastifyInstance,
  client: Client,
  request: RefreshRequest,
  { client: info }: Origin,
  now: Date,
): Promise<TokenResponse> {
  const { refreshToken, scope } = request
  if (!refreshToken) throw oauthInvalidRequest('refresh_token is missing')
  const granted = await findGrant(app, refreshToken)
  const narrower = granted ? narrow(app, client, granted, request) : {}
  if (narrower instanceof ApiError && (await isUsable(app, client, refreshToken, now))) {
    throw narrower
  }
  const scoped = narrower instanceof ApiError ? {} : narrower
  const verified = granted && (await findVerifiedContacts(app.db, granted))
  const presenter = { ...info, oauthClientId: client.id }
  const refreshed = await refreshSession(app, refreshToken, presenter, now, {
    ...scoped,
    ...(verified && { verified }),
    clientId: client.clientId,
  }).catch(rejectGrant)
  if (narrower instanceof ApiError) throw narrower
  return toOauthTokenResponse(client, refreshed, scope || (granted?.scopes ?? ''))
}

/** Whether the token could be refreshed now; it is not consumed. */
async function isUsable(
  app: FastifyInstance,
  client: Client,
  refreshToken: string,
  now: Date,
): Promise<boolean> {
  const known = await findSessionByRefreshToken(app, refreshToken)
  if (!known?.isCurrent || known.session.oauth_client_id !== client.id) return false
  return isSessionLive(app, known.session, now)
}

type Grant = NonNullable<Awaited<ReturnType<typeof findClientSession>>>

/** What was granted to the session of a token, valid or not. */
async function findGrant(app: FastifyInstance, refreshToken: string): Promise<Grant | undefined> {
  const sessionId =
    sessionIdOfRefreshToken(refreshToken) ??
    (await findSessionByRefreshToken(app, refreshToken))?.session.session_id
  return sessionId === undefined ? undefined : findClientSession(app.db, sessionId)
}

/** Narrows the grant to the request. Returns invalid_scope or invalid_target when it exceeds the grant. */
function narrow(
  app: FastifyInstance,
  client: Client,
  { aud, resources, scopes, userinfo_claims }: Grant,
  { scope, resources: requested }: RefreshRequest,
): GrantedScope | ApiError {
  if (scope && !covers(scopes ?? '', scope)) {
    return invalidScope('The scope exceeds what the user granted')
  }
  const narrowed = narrowResources(resources ?? [], requested)
  if (narrowed instanceof ApiError) return narrowed
  return {
    audience: listTokenAudiences(app, client, narrowed, aud),
    hasDataAccess: hasDataAccess(app, client),
    ...(scope && { scopes: scope }),
    userinfoClaims: userinfo_claims ?? [],
  }
}

interface Known {
  session: TokenSession
  isCurrent: boolean
  /** Of an access token. */
  claims: AccessTokenClaims | undefined
}

/** Revokes the session of a token issued to this client; reveals nothing about others (RFC 7009 §2.2). */
export async function revokeToken(
  app: FastifyInstance,
  client: Client,
  token: string,
  { ip }: Origin,
  now: Date,
): Promise<void> {
  const known = await findToken(app, token)
  if (known?.session.oauth_client_id !== client.id) return
  const { session } = known
  await app.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(app, trx, session.id, session.session_id, now))) return
    const traits = { session_id: session.session_id, oauth_client_id: client.id, action: 'revoke' }
    await recordAudit(app.audit, trx, 'logout', session, { ip, now, traits })
  })
}

interface Introspection {
  active: boolean
  [claim: string]: unknown
}

/**
 * Describes a token to its client and to resource servers in its audience; for all others it is inactive (RFC 7662
 * §2.2).
 */
export async function introspectToken(
  app: FastifyInstance,
  client: Client,
  token: string,
  now: Date,
): Promise<Introspection> {
  const known = await findToken(app, token)
  if (!known?.isCurrent || !isSessionLive(app, known.session, now)) return { active: false }
  const { session, claims } = known
  if (!mayIntrospect(client, session, claims)) return { active: false }
  const named = claims?.client_id ?? session.oauth_client_id
  const common = {
    active: true,
    iss: app.jwt.issuer,
    sub: session.id,
    scope: claims?.scope ?? session.scopes ?? '',
    ...(named && { client_id: named }),
  }
  if (!claims) return { ...common, token_type: 'refresh_token' }
  const { aud, exp, iat, session_id: sid } = claims
  const username = scopeList(common.scope).includes('email') ? session.email : undefined
  return { ...common, token_type: 'Bearer', aud, exp, iat, sid, ...(username && { username }) }
}

async function findToken(app: FastifyInstance, token: string): Promise<Known | undefined> {
  if (token.split('.').length !== 3) {
    const found = await findSessionByRefreshToken(app, token)
    return found && { ...found, claims: undefined }
  }
  const claims = await app.jwt.verify(token).catch(() => undefined)
  if (!claims?.session_id || !isUuid(claims.session_id)) return undefined
  const session = await findSessionById(app.db, claims.session_id)
  if (!session || session.id !== claims.sub) return undefined
  return { session, claims, isCurrent: true }
}

/** Whether the session has ended for no reason but that it was deleted. */
function isSessionLive({ bearerAuth }: FastifyInstance, session: TokenSession, now: Date): boolean {
  if (session.deleted_at || isBanned(session, now)) return false
  return bearerAuth.sessionPolicy.expiredBy(session, now) === undefined
}

function mayIntrospect(
  { id, settings }: Client,
  session: TokenSession,
  claims: AccessTokenClaims | undefined,
): boolean {
  if (session.oauth_client_id === id) return true
  const audience = [claims?.aud ?? []].flat()
  return (settings.resources ?? []).some((resource) =>
    audience.some((each) => isSameUri(each, resource)),
  )
}
