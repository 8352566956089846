/**
 * Enrollment and deletion of a factor by its user. It becomes a second factor once it is verified in the same session.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { removeFactor } from '../../db/factors/admin.ts'
import { deleteStaleFactors, insertFactor } from '../../db/factors/factors.ts'
import type { ChallengeableFactorType } from '../../db/tables/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  insufficientAal,
  mfaFactorNameConflict,
  mfaFactorNotFound,
  mfaVerifiedFactorExists,
  tooManyEnrolledFactors,
  validationFailed,
} from '../../schemas/errors.ts'
import { requireFreshProof } from '../access/index.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { removeCodesOfLastFactor, requireNotLastNextToCodes } from './recovery-codes/rules.ts'
import { createTotpEnrollment, generateTotpSecret } from './totp.ts'

interface Enrollment {
  type: ChallengeableFactorType
  name: string
  /** The issuer of a TOTP factor; the site's host by default. */
  issuer: string | undefined
  /** E.164 digits of a phone factor. */
  phone: string | null
}

/**
 * Inserts the factor as unverified. Throws mfa_verified_factor_exists, mfa_factor_name_conflict,
 * too_many_enrolled_mfa_factors, insufficient_aal or reauthentication_needed, and the errors of `authenticate`.
 */
export async function enrollFactor(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  enrollment: Enrollment,
  { ip, now }: AuditContext,
) {
  const { audit, bearerAuth, config, encryption } = app
  const current = await bearerAuth.reauthorizeSession(trx, auth, now)
  await checkFactorLimit(app, trx, current, enrollment, now)

  const id = crypto.randomUUID()
  const { type, name, phone, issuer = new URL(config.AUTH_SITE_URL).host } = enrollment
  const secret = type === 'totp' ? generateTotpSecret() : undefined
  const encrypted = secret ? encryption.seal(id, secret) : ''
  const { user } = current
  const session = { userId: user.id, sessionId: current.session.session_id }
  await insertFactor(trx, { id, type, name, phone, secret: encrypted, ...session }, now)
  const traits = { factor_id: id, factor_type: type, factor_status: 'unverified' }
  await recordAudit(audit, trx, 'factor_in_progress', user, { ip, now, traits })
  const totp = secret && createTotpEnrollment(secret, issuer, user.email || user.phone || user.id)
  return { id, type, friendly_name: name, ...(totp && { totp }) }
}

async function checkFactorLimit(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  enrollment: Enrollment,
  now: Date,
): Promise<void> {
  const { user } = auth
  const { phone } = enrollment
  const taken = user.factors.some((factor) => isVerified(factor) && factor.phone === phone)
  if (phone && taken) throw mfaVerifiedFactorExists()
  await requireFactorSlot(app, trx, user, enrollment, now)
  await requireFreshProof(app, trx, auth, { change: 'factor' }, now)
}

/** Deletes unverified factors. Throws mfa_factor_name_conflict, and too_many_enrolled_mfa_factors at the limit. */
export async function requireFactorSlot(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { name, phone }: Pick<Enrollment, 'name' | 'phone'>,
  now: Date,
): Promise<void> {
  const { config } = app
  const factors = await withoutStale(app, trx, user, phone, now)
  if (factors.some(({ friendly_name }) => (friendly_name ?? '') === name)) {
    throw mfaFactorNameConflict(name)
  }
  const verified = factors.filter(isVerified).length
  if (
    factors.length >= config.AUTH_MFA_MAX_ENROLLED_FACTORS ||
    verified >= config.AUTH_MFA_MAX_VERIFIED_FACTORS
  ) {
    throw tooManyEnrolledFactors()
  }
}

async function withoutStale(
  { config }: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  phone: string | null,
  now: Date,
): Promise<UserRecord['factors']> {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
  const removed = await deleteStaleFactors(trx, user.id, {
    createdBefore: ago(config.AUTH_MFA_FACTOR_EXPIRY_DURATION),
    challengedBefore: ago(config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION),
    phone,
  })
  return user.factors.filter(({ id }) => !removed.includes(id))
}

const isVerified = ({ status }: UserRecord['factors'][number]) => status === 'verified'

/**
 * Deletes the factor; sessions stepped up by it drop to aal1. Throws mfa_factor_not_found, insufficient_aal for a
 * verified one below aal2, validation_failed for recovery codes, mfa_recovery_codes_sole_factor for the last one next
 * to codes, and the errors of `authenticate`.
 */
export async function unenrollFactor(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  factorId: string,
  { ip, now }: AuditContext,
): Promise<void> {
  const { audit, bearerAuth } = app
  const current = await bearerAuth.reauthorizeSession(trx, auth, now)
  const { user } = current
  const factor = user.factors.find(({ id }) => id === factorId)
  if (!factor) throw mfaFactorNotFound()
  if (factor.factor_type === 'recovery_code') {
    throw validationFailed('Delete recovery codes with DELETE /factors/recovery-codes', 422)
  }
  const isVerified = factor.status === 'verified'
  if (isVerified && !bearerAuth.isConfirmed(current, now)) {
    throw insufficientAal('AAL2 required to unenroll verified factor', 422)
  }
  requireNotLastNextToCodes(app, user, factor)
  await removeFactor(trx, { userId: user.id, factorId }, now)
  const { factor_type, status } = factor
  const traits = { factor_id: factorId, factor_type, factor_status: status }
  await recordAudit(audit, trx, 'factor_unenrolled', user, { ip, now, traits })
  if (!isVerified) return
  const kind = 'mfa_factor_unenrolled_notification'
  await notifyUser(app, trx, user, { kind, FactorType: factor_type }, now)
  await removeCodesOfLastFactor(app, trx, user, factorId, { ip, now })
}
