/** Sessions of the hosted pages. */
import type { FastifyRequest } from 'fastify'

import {
  findPageSession,
  insertPageSession,
  touchPageSession,
} from '../../db/oauth-server/page-sessions.ts'
import { findSessionById } from '../../db/sessions/find-session.ts'
import type { TokenSession } from '../../db/sessions/sessions.ts'
import { isBanned } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { RequiredFactor } from '../../plugins/security/bearer-auth/session-policy.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { isSuperseded, revokeSession } from '../sessions/index.ts'
import { browserId, cookieHeader, hashOfCookie, makeBrowserId } from './cookie.ts'

export interface SignedIn {
  session: TokenSession
  cookie: string
}

type SessionDeps = Deps<'bearerAuth' | 'config' | 'db'>

/** The absolute lifetime, as a multiple of the idle timeout. */
const maxIdleTimes = 12
const touchAfterMs = 60_000

/** Returns the session of the cookie while it and its user are valid. */
export async function findSignedIn(
  deps: SessionDeps,
  request: FastifyRequest,
  now: Date,
): Promise<SignedIn | undefined> {
  const cookie = browserId(deps, request)
  const stored = cookie && (await findPageSession(deps.db, hashOfCookie(cookie), now))
  const session = stored && (await findSessionById(deps.db, stored.session_id))
  if (!cookie || !stored || !session) return undefined
  if (session.deleted_at || isBanned(session, now)) return undefined
  if (deps.bearerAuth.sessionPolicy.expiredBy(session, now)) return undefined
  if (await isSuperseded(deps, deps.db, session, now)) return undefined
  if (now.getTime() - stored.last_used_at.getTime() > touchAfterMs) {
    const expiresAt = expiry(deps, stored.created_at, now)
    await touchPageSession(deps.db, stored, expiresAt, now)
  }
  return { session, cookie }
}

/** On the pages, users with a second factor must verify it. */
export function requiresFactor({ aal, factors }: Pick<TokenSession, 'aal' | 'factors'>): boolean {
  return aal !== 'aal2' && aal !== 'aal3' && factors.some(({ status }) => status === 'verified')
}

/**
 * The second factor that is required before the user grants access: one to verify, or one that the role requires to
 * add.
 */
export function findRequiredFactor(
  { bearerAuth }: Deps<'bearerAuth'>,
  { session }: SignedIn,
): RequiredFactor | undefined {
  if (requiresFactor(session)) return 'verification'
  return bearerAuth.sessionPolicy.requiredByRole(
    { user: session, session },
    session.role ?? undefined,
  )
}

/**
 * The page for the required factor; it continues at `next`. Without the account page, factors are added in the
 * operator's app.
 */
export function factorPage(
  { config }: Deps<'config'>,
  required: RequiredFactor,
  next: string,
): string {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: base, AUTH_SITE_URL } = config
  if (required === 'verification') return `${base}/sign-in/factor?next=${encodeURIComponent(next)}`
  return AUTH_ACCOUNT_PAGE_ENABLED ? `${base}/account/factors` : AUTH_SITE_URL
}

/** Sets a new cookie for a new session, against session fixation. */
export async function startPageSession(
  deps: Deps<'config' | 'db'>,
  sessionId: string,
  now: Date,
): Promise<string> {
  const value = makeBrowserId()
  await insertPageSession(deps.db, {
    id: hashOfCookie(value),
    session_id: sessionId,
    created_at: now,
    last_used_at: now,
    expires_at: expiry(deps, now, now),
  })
  return cookieHeader(deps, value)
}

/** Revokes the session of the cookie. */
export async function endPageSession(
  { audit, db, sessions }: Deps<'audit' | 'db' | 'sessions'>,
  { session }: SignedIn,
  { ip, now }: AuditContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await revokeSession(sessions, trx, session.id, session.session_id, now))) return
    const traits = { session_id: session.session_id }
    await recordAudit(audit, trx, 'logout', session, { ip, now, traits })
  })
}

/** An access token for API calls of the page's user; for one call, unless a longer lifetime is given. */
export function accessTokenFor(
  { jwt }: Deps<'jwt'>,
  { session }: Pick<SignedIn, 'session'>,
  now: Date,
  seconds = 60,
): Promise<string> {
  const claims = jwt.buildClaims(session, session, now)
  const maxExp = Math.floor(now.getTime() / 1000) + seconds
  return jwt.sign({ ...claims, exp: Math.min(claims.exp, maxExp) })
}

function expiry({ config }: Deps<'config'>, createdAt: Date, now: Date): Date {
  const idleMs = config.AUTH_PAGES_SESSION_TTL * 1000
  return new Date(Math.min(now.getTime() + idleMs, createdAt.getTime() + maxIdleTimes * idleMs))
}
