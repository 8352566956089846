/** Deletion of a factor by the user. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { removeFactor } from '../../db/factors/admin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { insufficientAal, mfaFactorNotFound, validationFailed } from '../../schemas/errors.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { removeCodesOfLastFactor } from './recovery-codes/remove.ts'
import { requireNotLastNextToCodes } from './recovery-codes/rules.ts'

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
