import type { Trx } from '../../../db/database.ts'
import { deleteRecoveryCodes } from '../../../db/recovery-codes.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { requireSecondFactor } from './second-factor.ts'

/**
 * Voids every code of the person, who asked for it; false when there was none. The caller holds the member.
 * Throws insufficient_aal.
 */
export async function discard(
  house: House<'audit' | 'sessionPolicy'>,
  trx: Trx,
  member: Member,
  { ip, now }: { ip: string; now: Date },
): Promise<boolean> {
  requireSecondFactor(house, member, now)
  const { user } = member
  if (!(await deleteRecoveryCodes(trx, user.id))) return false
  await house.audit.record(trx, 'recovery_codes_voided', user, { ip, now })
  return true
}
