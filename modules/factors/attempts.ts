/** What each attempt at a factor's code passes: the throttle, and the operator's hook. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { FactorRecord } from '../../db/factors/factors.ts'
import { type ApiError, HookError, mfaVerificationRejected } from '../../schemas/errors.ts'
import { throttleAttempt } from '../otp/index.ts'
import { revokeAllSessions } from '../sessions/index.ts'

/**
 * Throws over_request_rate_limit while the user is blocked; otherwise the attempt is counted until it succeeds. Recovery
 * codes have a separate lock.
 */
export function throttleFactorAttempt(app: FastifyInstance, db: Db, userId: string, now: Date) {
  return throttleAttempt(app, db, { kind: 'factor', account: userId }, now)
}

const rejected = 'The verification was rejected. Sign in again.'

/**
 * The operator's MFA_VERIFICATION_ATTEMPT hook, called for every compared TOTP, phone or recovery code. Returns its
 * rejection, after revoking all sessions of the user, or undefined. Returned, not thrown, since the
 * attempt stays counted in any case.
 */
export async function callMfaVerificationHook(
  app: FastifyInstance,
  db: Db,
  factor: Pick<FactorRecord, 'id' | 'factor_type' | 'user_id'>,
  { isRight, ip }: { isRight: boolean; ip: string },
): Promise<ApiError | undefined> {
  if (!app.hooks.mfaVerificationAttempt || factor.factor_type === 'webauthn') return undefined
  const { id: factor_id, factor_type, user_id } = factor
  try {
    const attempt = { user_id, factor_id, factor_type, valid: isRight }
    const decision = await app.hooks.mfaVerificationAttempt(attempt, ip)
    if (!decision.isRejected) return undefined
    // The hook may have taken seconds.
    await db.transaction().execute((trx) => revokeAllSessions(app, trx, user_id, {}, new Date()))
    return mfaVerificationRejected(decision.message ?? rejected)
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
}
