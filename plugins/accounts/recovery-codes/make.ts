import type { Trx } from '../../../db/database.ts'
import { replaceRecoveryCodes } from '../../../db/recovery-codes.ts'
import { codesInSet } from '../../../schemas/recovery-codes.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { hashOf, newCode, toShown } from './codes.ts'
import { requireSecondFactor } from './second-factor.ts'

/**
 * Makes ten codes in the place of all the person had. Nobody can read them again. The caller holds the member.
 * Throws insufficient_aal.
 */
export async function make(
  house: House<'audit' | 'encryption' | 'sessionPolicy'>,
  trx: Trx,
  member: Member,
  { ip, now }: { ip: string; now: Date },
): Promise<string[]> {
  requireSecondFactor(house, member, now)
  const { user } = member
  const codes = Array.from({ length: codesInSet }, newCode)
  const hashes = codes.map((code) => hashOf(house, user.id, code))
  const keyId = house.encryption.currentKeyId
  await replaceRecoveryCodes(trx, user.id, { hashes, keyId }, now)
  await house.audit.record(trx, 'recovery_codes_created', user, { ip, now })
  return codes.map(toShown)
}
