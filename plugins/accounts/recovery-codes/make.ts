import type { Trx } from '../../../db/database.ts'
import { replaceRecoveryCodes } from '../../../db/recovery-codes.ts'
import { insufficientAal } from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { hashOf, newCode, toShown } from './codes.ts'

const count = 10

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
  const { user, session } = member
  const isRaised = session.aal === 'aal2' || session.aal === 'aal3'
  if (!isRaised || !house.sessionPolicy.isConfirmed(member, now)) {
    throw insufficientAal('AAL2 required to make recovery codes', 403)
  }
  const codes = Array.from({ length: count }, newCode)
  const hashes = codes.map((code) => hashOf(house, user.id, code))
  await replaceRecoveryCodes(trx, user.id, hashes, now)
  await house.audit.record(trx, 'recovery_codes_created', user, { ip, now })
  return codes.map(toShown)
}
