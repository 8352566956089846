/** Verifies a recovery code instead of a lost factor. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import {
  consumeRecoveryCode,
  findRecoveryCodeSet,
  releaseRecoveryAttempt,
  reserveRecoveryAttempt,
  type UnusedCode,
} from '../../../db/factors/recovery-codes.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import { recoveryCodesLocked, recoveryCodeWrong } from '../../../schemas/errors.ts'
import type { Session } from '../../../schemas/session.ts'
import { isEqualInConstantTime } from '../../../schemas/values/constant-time.ts'
import { type AuditContext, recordAudit } from '../../audit/index.ts'
import { notifyUser } from '../../emails/index.ts'
import { permitStepUp, stepUpToAal2 } from '../../sessions/index.ts'
import type { PrecomputedClaims } from '../../sessions/step-up.ts'
import { computeCodeDigests, mayBeCode } from './generate.ts'

/** A counted attempt and the matching code; undefined for a wrong one. */
export interface RecoveryAttempt {
  setId: string
  factor: { id: string; factor_type: 'recovery_code'; user_id: string }
  codeId: string | undefined
  /** Consecutive wrong codes, this one included if it is wrong. */
  failures: number
}

/**
 * Counts the attempt, then compares the code. Throws mfa_verification_failed without codes, and
 * mfa_recovery_codes_locked while the set is locked.
 */
export async function attemptRecovery(
  app: FastifyInstance,
  db: Db,
  { user: { id: userId } }: SessionAuth,
  code: string,
  now: Date,
): Promise<RecoveryAttempt> {
  const lockedUntil = new Date(
    now.getTime() + app.config.AUTH_MFA_RECOVERY_CODES_LOCKOUT_DURATION * 1000,
  )
  const limit = { userId, maxFailures: maxAttempts(app), lockedUntil }
  const reserved = await reserveRecoveryAttempt(db, limit, now)
  if (!reserved) throw await findRejection(db, userId, now)
  const { setId, factorId, failures, codes } = reserved
  const factor = { id: factorId, factor_type: 'recovery_code' as const, user_id: userId }
  try {
    return { setId, factor, failures, codeId: await findMatch(app, userId, codes, code) }
  } catch (error) {
    await releaseRecoveryAttempt(db, setId, limit.maxFailures)
    throw error
  }
}

const maxAttempts = ({ config }: FastifyInstance) =>
  config.AUTH_MFA_RECOVERY_CODES_MAX_VERIFY_ATTEMPTS

async function findRejection(db: Db, userId: string, now: Date): Promise<Error> {
  const set = await findRecoveryCodeSet(db, userId)
  if (!set) return recoveryCodeWrong()
  const seconds = ((set.lockedUntil?.getTime() ?? 0) - now.getTime()) / 1000
  return recoveryCodesLocked(Math.max(1, Math.ceil(seconds)))
}

/** Releases an attempt that was rejected for another reason than its code. */
export async function releaseRecovery(
  app: FastifyInstance,
  db: Db,
  { setId }: RecoveryAttempt,
): Promise<void> {
  await releaseRecoveryAttempt(db, setId, maxAttempts(app))
}

/** Compares with all codes without an early exit. Codes without our digest need a slow hash each. */
async function findMatch(
  app: FastifyInstance,
  userId: string,
  codes: readonly UnusedCode[],
  code: string,
): Promise<string | undefined> {
  if (!mayBeCode(code)) return undefined
  const digests = computeCodeDigests(app, userId, code)
  let match: string | undefined
  for (const { id, code_hash, digest, key_id } of codes) {
    const isKeyed = digest !== null && (key_id === null || app.encryption.hasKey(key_id))
    const isRight = isKeyed
      ? digests.some((one) => isEqualInConstantTime(one, digest))
      : await app.passwords.matchesHash(code_hash, code)
    if (isRight) match = id
  }
  return match
}

/** Calls the access token hook before the code is consumed. Throws HookError. */
export function precomputeRecoveryClaims(
  app: FastifyInstance,
  { session }: SessionAuth,
  { ip, now }: AuditContext,
): Promise<PrecomputedClaims> {
  return permitStepUp(app, session, { method: 'mfa/recovery_code', ip }, now)
}

/**
 * Consumes the code and steps the session up to aal2; undefined when the code was consumed concurrently. The caller
 * must have locked the session. Throws session_not_found, session_expired or token_too_large.
 */
export async function completeRecovery(
  app: FastifyInstance,
  trx: Trx,
  { user, session }: SessionAuth,
  { codeId, factor, permit }: { codeId: string; factor: { id: string }; permit: PrecomputedClaims },
  { ip, now }: AuditContext,
): Promise<Session | undefined> {
  const remaining = await consumeRecoveryCode(trx, codeId, now)
  if (remaining === undefined) return undefined
  const traits = { factor_id: factor.id, remaining }
  await recordAudit(app.audit, trx, 'recovery_codes_verified', user, { ip, now, traits })
  const kind = 'recovery_code_used_notification'
  await notifyUser(app, trx, user, { kind, Remaining: String(remaining) }, now)
  return stepUpToAal2(app, trx, session, { permit, factorId: factor.id }, now)
}
