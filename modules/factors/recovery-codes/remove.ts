/** Deletion of recovery codes, by the user or with the last other factor. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { removeFactor } from '../../../db/factors/admin.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import { type AuditContext, recordAudit } from '../../audit/index.ts'
import { notifyUser } from '../../emails/index.ts'
import { findCodesRemovedWith, requireAal2ForCodes, requireCodes } from './rules.ts'

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
