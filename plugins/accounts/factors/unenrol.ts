/** A person removes a second factor. */
import type { Trx } from '../../../db/database.ts'
import { removeFactor } from '../../../db/factors-admin.ts'
import { insufficientAal, mfaFactorNotFound } from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'

/**
 * Removes the factor; sessions that it had raised fall back to aal1. Throws mfa_factor_not_found, and
 * insufficient_aal for a verified one without a proof of a second factor, and what `authenticate` throws.
 */
export async function unenrol(
  { audit, bearerAuth, emails }: House<'audit' | 'bearerAuth' | 'emails'>,
  trx: Trx,
  member: Member,
  factorId: string,
  { ip, now }: { ip: string; now: Date },
): Promise<void> {
  const held = await bearerAuth.holdMember(trx, member, now)
  const { user } = held
  const factor = user.factors.find(({ id }) => id === factorId)
  if (!factor) throw mfaFactorNotFound()
  const isVerified = factor.status === 'verified'
  if (isVerified && !bearerAuth.isConfirmed(held, now)) {
    throw insufficientAal('AAL2 required to unenroll verified factor', 422)
  }
  await removeFactor(trx, { userId: user.id, factorId }, now)
  const { factor_type, status } = factor
  const traits = { factor_id: factorId, factor_type, factor_status: status }
  await audit.record(trx, 'factor_unenrolled', user, { ip, now, traits })
  if (!isVerified) return
  const kind = 'mfa_factor_unenrolled_notification'
  await emails.notify(trx, user, { kind, FactorType: factor_type }, now)
}
