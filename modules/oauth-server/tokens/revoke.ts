/** Revocation (RFC 7009) and introspection (RFC 7662) of clients' tokens. */
import { findSessionById } from '../../../db/sessions/find-session.ts'
import type { TokenSession } from '../../../db/sessions/sessions.ts'
import { isBanned } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { AccessTokenClaims } from '../../../schemas/access-token.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { recordAudit } from '../../audit/index.ts'
import { findSessionByRefreshToken, revokeSession } from '../../sessions/index.ts'
import type { Client } from '../clients/client.ts'
import type { Origin } from './origin.ts'

type TokenDeps = Deps<'audit' | 'bearerAuth' | 'db' | 'jwt' | 'sessions'>

interface Known {
  session: TokenSession
  isCurrent: boolean
  /** Of an access token. */
  claims: AccessTokenClaims | undefined
}

/** Revokes the session of a token issued to this client; reveals nothing about others (RFC 7009 §2.2). */
export async function revokeToken(
  deps: TokenDeps,
  client: Client,
  token: string,
  { ip }: Origin,
  now: Date,
): Promise<void> {
  const known = await findToken(deps, token)
  if (known?.session.oauth_client_id !== client.id) return
  const { session } = known
  await deps.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(deps.sessions, trx, session.id, session.session_id, now))) return
    const traits = { session_id: session.session_id, oauth_client_id: client.id, action: 'revoke' }
    await recordAudit(deps.audit, trx, 'logout', session, { ip, now, traits })
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
  deps: TokenDeps,
  client: Client,
  token: string,
  now: Date,
): Promise<Introspection> {
  const known = await findToken(deps, token)
  if (!known?.isCurrent || !isLive(deps, known.session, now)) return { active: false }
  const { session, claims } = known
  if (!mayIntrospect(client, session, claims)) return { active: false }
  const named = claims?.client_id ?? session.oauth_client_id
  const common = {
    active: true,
    iss: deps.jwt.issuer,
    sub: session.id,
    scope: claims?.scope ?? session.scopes ?? '',
    ...(named && { client_id: named }),
  }
  if (!claims) return { ...common, token_type: 'refresh_token' }
  const { aud, exp, iat, session_id: sid } = claims
  return { ...common, token_type: 'Bearer', aud, exp, iat, sid, username: session.email ?? '' }
}

async function findToken(
  { db, jwt, sessions }: TokenDeps,
  token: string,
): Promise<Known | undefined> {
  if (token.split('.').length !== 3) {
    const found = await findSessionByRefreshToken(sessions, token)
    return found && { ...found, claims: undefined }
  }
  const claims = await jwt.verify(token).catch(() => undefined)
  if (!claims?.session_id || !isUuid(claims.session_id)) return undefined
  const session = await findSessionById(db, claims.session_id)
  if (!session || session.id !== claims.sub) return undefined
  return { session, claims, isCurrent: true }
}

function isLive({ bearerAuth }: TokenDeps, session: TokenSession, now: Date): boolean {
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
  return (settings.resources ?? []).some((resource) => audience.includes(resource))
}
