/** Sessions of the hosted pages. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import {
  findPageSession,
  insertPageSession,
  touchPageSession,
} from '../../db/oauth-server/page-sessions.ts'
import { findSessionById, type TokenSession } from '../../db/sessions/sessions.ts'
import { isBanned } from '../../db/users/users.ts'
import type { RequiredFactor } from '../../plugins/security/bearer-auth/session-policy.ts'
import { ApiError } from '../../schemas/errors.ts'
import { authorizeAccess } from '../access/index.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { isSuperseded, revokeSession } from '../sessions/index.ts'
import { browserId, cookieHeader, hashOfCookie, makeBrowserId } from './cookie.ts'

export interface SignedIn {
  session: TokenSession
  cookie: string
}

/** The absolute lifetime, as a multiple of the idle timeout. */
const maxIdleTimes = 12
const touchAfterMs = 60_000

/** Returns the session of the cookie while it and its user are valid. */
export async function findSignedIn(
  app: FastifyInstance,
  request: FastifyRequest,
  now: Date,
): Promise<SignedIn | undefined> {
  const cookie = browserId(app, request)
  const stored = cookie && (await findPageSession(app.db, hashOfCookie(cookie), now))
  const session = stored && (await findSessionById(app.db, stored.session_id))
  if (!cookie || !stored || !session) return undefined
  if (session.deleted_at || isBanned(session, now)) return undefined
  // Consent and account pages are for the user alone.
  if (session.impersonated_by) return undefined
  if (app.bearerAuth.sessionPolicy.expiredBy(session, now)) return undefined
  if (await isSuperseded(app, app.db, session, now)) return undefined
  if (now.getTime() - stored.last_used_at.getTime() > touchAfterMs) {
    const expiresAt = expiry(app, stored.created_at, now)
    await touchPageSession(app.db, stored, expiresAt, now)
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
  { bearerAuth }: FastifyInstance,
  { session }: SignedIn,
): RequiredFactor | undefined {
  if (requiresFactor(session)) return 'verification'
  return bearerAuth.sessionPolicy.requiredByRole(
    { user: session, session },
    session.role ?? undefined,
  )
}

/** What is missing before the user gives access to others: `too_new` is a sign-in by a method added within a day. */
export type MissingProof = 'second_factor' | 'recent_sign_in' | 'too_new'

/** Undefined when the sign-in is recent enough to give access to others. A required factor is checked before. */
export async function findMissingProof(
  app: FastifyInstance,
  { session }: Pick<SignedIn, 'session'>,
  now: Date,
): Promise<MissingProof | undefined> {
  const auth = { user: session, session, claims: {} }
  try {
    await authorizeAccess(app, { auth, admin: null }, now)
    return undefined
  } catch (error) {
    const code = error instanceof ApiError ? error.errorCode : undefined
    if (code === 'insufficient_aal') return 'second_factor'
    if (code !== 'reauthentication_needed') throw error
    const maxAgeMs = app.config.AUTH_SECURITY_FRESH_PROOF_MAX_AGE * 1000
    const openedAt = session.session_created_at?.getTime() ?? 0
    const isRecent = maxAgeMs === 0 || now.getTime() - openedAt < maxAgeMs
    return isRecent ? 'too_new' : 'recent_sign_in'
  }
}

/**
 * The page for the required factor; it continues at `next`. Without the account page, factors are added in the
 * operator's app.
 */
export function factorPage(
  { config }: FastifyInstance,
  required: RequiredFactor,
  next: string,
): string {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: base, AUTH_SITE_URL } = config
  if (required === 'verification') return `${base}/sign-in/factor?next=${encodeURIComponent(next)}`
  const returning = `?next=${encodeURIComponent(next)}`
  return AUTH_ACCOUNT_PAGE_ENABLED ? `${base}/account/factors${returning}` : AUTH_SITE_URL
}

/** Sets a new cookie for a new session, against session fixation. */
export async function startPageSession(
  app: FastifyInstance,
  sessionId: string,
  now: Date,
): Promise<string> {
  const value = makeBrowserId()
  const times = { created_at: now, last_used_at: now, expires_at: expiry(app, now, now) }
  const stored = { id: hashOfCookie(value), session_id: sessionId, ...times }
  await insertPageSession(app.db, stored, now)
  return cookieHeader(app, value)
}

/** Revokes the session of the cookie. */
export async function endPageSession(
  app: FastifyInstance,
  { session }: SignedIn,
  { ip, now }: AuditContext,
): Promise<void> {
  await app.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(app, trx, session.id, session.session_id, now))) return
    const traits = { session_id: session.session_id }
    await recordAudit(app.audit, trx, 'logout', session, { ip, now, traits })
  })
}

/** An access token for API calls of the page's user; for one call, unless a longer lifetime is given. */
export function accessTokenFor(
  { jwt }: FastifyInstance,
  { session }: Pick<SignedIn, 'session'>,
  now: Date,
  seconds = 60,
): Promise<string> {
  const claims = jwt.buildClaims(session, session, now)
  const maxExp = Math.floor(now.getTime() / 1000) + seconds
  return jwt.sign({ ...claims, exp: Math.min(claims.exp, maxExp) })
}

function expiry({ config }: FastifyInstance, createdAt: Date, now: Date): Date {
  const idleMs = config.AUTH_PAGES_SESSION_TTL * 1000
  return new Date(Math.min(now.getTime() + idleMs, createdAt.getTime() + maxIdleTimes * idleMs))
}
