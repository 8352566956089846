/** Steps a session up to aal2 after a verified factor. Nothing else does. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findActiveOrganization } from '../../db/organizations/active.ts'
import { findSessionById, type SessionRecord } from '../../db/sessions/sessions.ts'
import { deleteSessionsBelowAal2, stepUpSession } from '../../db/sessions/step-up.ts'
import type { HookClaims } from '../../schemas/access-token.ts'
import { oauthSession, sessionInvalid, sessionNotFound } from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { decryptKey, deriveKey, encodeRefreshToken, encryptKey } from './refresh-token.ts'
import { emitSessionEnded } from './revoke.ts'
import { isSuperseded, organizationScope } from './rotation.ts'
import { computeClaims, withClaims } from './token-response.ts'

/** The method of the factor, added to the session's `amr`. */
type SecondFactorMethod = 'totp' | 'mfa/phone' | 'mfa/webauthn' | 'mfa/recovery_code'

/** The claims of the stepped-up session, computed before its transaction. */
export interface PrecomputedClaims {
  method: SecondFactorMethod
  /** From the hook; undefined without one. */
  claims: HookClaims | undefined
}

interface SecondFactorEvent {
  permit: PrecomputedClaims
  /** The verified factor, unless it is a recovery code. */
  factorId?: string
}

/**
 * Calls the access token hook for the claims of the stepped-up session, after the factor was verified and before any
 * change: when the hook rejects, the session keeps its level and the factor can be verified again. Never inside a
 * transaction. Throws HookError.
 */
export async function permitStepUp(
  app: FastifyInstance,
  session: SessionRecord,
  { method, ip }: { method: SecondFactorMethod; ip: string },
  now: Date,
): Promise<PrecomputedClaims> {
  if (!app.hooks.customizeAccessToken) return { method, claims: undefined }
  const others = session.amr.filter((claim) => claim.method !== method)
  const amr = [{ method, timestamp: Math.floor(now.getTime() / 1000) }, ...others]
  // Only the user verifies a factor, never an impersonating admin.
  const organization = app.config.AUTH_ORGANIZATIONS_ENABLED
    ? await findActiveOrganization(app.db, session.session_id, session.id)
    : null
  const raised = { ...session, aal: 'aal2' as const, amr, impersonated_by: null, organization }
  const facts = { user: session, session: raised, method, ip }
  return { method, claims: await computeClaims(app, facts, now) }
}

/**
 * Steps the session up. Reuse of the previous refresh token revokes the session; the user's other sessions below aal2
 * are revoked. The caller must have locked the user. Throws session_not_found, session_expired, invalid_client or
 * token_too_large.
 */
export async function stepUpToAal2(
  app: FastifyInstance,
  trx: Trx,
  session: SessionRecord,
  { permit: { method, claims }, factorId }: SecondFactorEvent,
  now: Date,
): Promise<Session> {
  const { id: userId, session_id: sessionId } = session
  const limit = app.bearerAuth.sessionPolicy.expiredBy(session, now)
  // The required factor has been verified.
  if (limit && limit !== 'low_aal') throw sessionInvalid()
  // A superseded session must not become the current one.
  if (await isSuperseded(app, trx, session, now)) throw sessionInvalid()
  if (session.oauth_client_id) throw oauthSession()
  const newKey = encryptKey(app, sessionId, deriveKey(app, sessionId))
  const verification = { sessionId, userId, method, factorId: factorId ?? null, newKey }
  if (!(await stepUpSession(trx, verification, now))) throw sessionNotFound()
  await emitSessionEnded(
    app,
    trx,
    userId,
    await deleteSessionsBelowAal2(trx, userId, sessionId),
    now,
  )
  const raised = await findSessionById(trx, sessionId, organizationScope(app))
  if (!raised) throw sessionNotFound()
  app.telemetry.metrics.count('postern.sign_ins', { method, outcome: 'accepted' })
  const key = decryptKey(app, sessionId, raised.refresh_token_hmac_key ?? newKey)
  const refreshToken = encodeRefreshToken(sessionId, raised.refresh_token_counter ?? 0, key)
  const tokenClaims = claims ?? app.jwt.buildClaims(raised, raised, now)
  return withClaims(app, { user: raised, session: raised, refreshToken }, tokenClaims, now)
}
