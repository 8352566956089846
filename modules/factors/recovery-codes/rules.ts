/**
 * Preconditions for generating, deleting and using recovery codes, and their deletion by the user or with the last
 * other factor.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { removeFactor } from '../../../db/factors/admin.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import {
  insufficientAal,
  recoveryCodesExist,
  recoveryCodesNotEnabled,
  recoveryCodesNotFound,
  soleRecoveryFactor,
} from '../../../schemas/errors.ts'
import { type AuditContext, recordAudit } from '../../audit/index.ts'
import { notifyUser } from '../../emails/index.ts'
import { isVerifyEnabled } from '../factor-types.ts'

type FactorOfUser = UserRecord['factors'][number]

/** Throws mfa_recovery_codes_enroll_not_enabled. */
export function requireRecoveryEnroll({ config }: FastifyInstance): void {
  if (!config.AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED) throw recoveryCodesNotEnabled('enroll')
}

/** Throws mfa_recovery_codes_verify_not_enabled. */
export function requireRecoveryVerify({ config }: FastifyInstance): void {
  if (!config.AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED) throw recoveryCodesNotEnabled('verify')
}

/** A session at aal1 may neither generate nor delete codes. Throws insufficient_aal. */
export function requireAal2ForCodes(
  { bearerAuth }: FastifyInstance,
  auth: SessionAuth,
  now: Date,
): void {
  const { aal } = auth.session
  const isRaised = aal === 'aal2' || aal === 'aal3'
  if (isRaised && bearerAuth.isConfirmed(auth, now)) return
  throw insufficientAal('AAL2 required to create or delete recovery codes', 403)
}

const isRecovery = ({ factor_type }: FactorOfUser) => factor_type === 'recovery_code'

/** Throws mfa_factor_not_found. */
export function requireCodes({ factors }: UserRecord): FactorOfUser {
  const factor = factors.find(isRecovery)
  if (!factor) throw recoveryCodesNotFound()
  return factor
}

/** Throws mfa_verified_factor_exists. */
export function requireNoCodes({ factors }: UserRecord): void {
  if (factors.some(isRecovery)) throw recoveryCodesExist()
}

/** Recovery codes cannot be the only factor. Throws mfa_recovery_codes_sole_factor. */
export function requireOtherFactor(app: FastifyInstance, { factors }: UserRecord): void {
  if (!factors.some((factor) => isUsable(app, factor))) throw soleRecoveryFactor()
}

/** Throws mfa_recovery_codes_sole_factor when deleting this factor leaves only recovery codes. */
export function requireNotLastNextToCodes(
  app: FastifyInstance,
  { factors }: UserRecord,
  removed: FactorOfUser,
): void {
  if (!factors.some(isRecovery) || !isUsable(app, removed)) return
  const others = factors.filter(({ id }) => id !== removed.id)
  if (!others.some((factor) => isUsable(app, factor))) throw soleRecoveryFactor()
}

function isUsable(app: FastifyInstance, { factor_type, status }: FactorOfUser): boolean {
  if (factor_type === 'recovery_code' || status !== 'verified') return false
  return isVerifyEnabled(app, factor_type)
}

/** The codes that are deleted with this factor, as no other verified one is left; undefined without any. */
export function findCodesRemovedWith(
  { factors }: UserRecord,
  removedId: string,
): FactorOfUser | undefined {
  const left = factors.filter(({ id }) => id !== removedId)
  const hasOther = left.some((factor) => !isRecovery(factor) && factor.status === 'verified')
  return hasOther ? undefined : left.find(isRecovery)
}

/**
 * Deletes the factor with its codes; sessions stepped up by it drop to aal1. Returns the id of the factor. The caller
 * must have locked the session. Throws insufficient_aal or mfa_factor_not_found.
 */
export async function removeRecoveryCodes(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  at: AuditContext,
): Promise<string> {
  requireAal2ForCodes(app, auth, at.now)
  const { id } = requireCodes(auth.user)
  await removeCodes(app, trx, auth.user, id, at)
  return id
}

/** After the deletion of a factor: recovery codes are deleted with the last other factor. */
export async function removeCodesOfLastFactor(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  removedId: string,
  at: AuditContext,
): Promise<void> {
  const codes = findCodesRemovedWith(user, removedId)
  if (codes) await removeCodes(app, trx, user, codes.id, at)
}

async function removeCodes(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  factorId: string,
  { ip, now }: AuditContext,
): Promise<void> {
  await removeFactor(trx, { userId: user.id, factorId }, now)
  await recordAudit(app.audit, trx, 'recovery_codes_deleted', user, {
    ip,
    now,
    traits: { factor_id: factorId },
  })
  const kind = 'mfa_factor_unenrolled_notification'
  await notifyUser(app, trx, user, { kind, FactorType: 'recovery_code' }, now)
}
