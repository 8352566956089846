/** The operator's MFA_VERIFICATION_ATTEMPT hook, called for every compared TOTP, phone or recovery code. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { FactorRecord } from '../../db/factors/factors.ts'
import { type ApiError, HookError, mfaVerificationRejected } from '../../schemas/errors.ts'
import { revokeAllSessions } from '../sessions/index.ts'

const rejected = 'The verification was rejected. Sign in again.'

/**
 * Returns the hook's rejection, after revoking all sessions of the user, or undefined. Returned, not thrown, since the
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
