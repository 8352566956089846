/** The set of recovery codes of a person: made anew, or voided. */
import type { Trx } from '../../../../db/database.ts'
import { deleteRecoveryCodes, replaceRecoveryCodes } from '../../../../db/recovery-codes.ts'
import { insufficientAal } from '../../../../errors.ts'
import { codesInSet } from '../../../../schemas/recovery-codes.ts'
import type { Member } from '../../../bearer-auth.ts'
import type { House } from '../../../define-plugin.ts'
import { hashOf, newCode, toShown } from './codes.ts'

/**
 * Makes ten codes in the place of all the person had. Nobody can read them again. The caller holds the member.
 * Throws insufficient_aal.
 */
export async function makeRecoveryCodes(
  house: House<'audit' | 'bearerAuth' | 'encryption'>,
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

/**
 * Voids every code of the person, who asked for it; false when there was none. The caller holds the member.
 * Throws insufficient_aal.
 */
export async function discardRecoveryCodes(
  house: House<'audit' | 'bearerAuth'>,
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

/** Whoever holds a session at aal1 must not make codes, nor take those of the person away. Throws insufficient_aal. */
function requireSecondFactor({ bearerAuth }: House<'bearerAuth'>, member: Member, now: Date): void {
  const { aal } = member.session
  const isRaised = aal === 'aal2' || aal === 'aal3'
  if (isRaised && bearerAuth.isConfirmed(member, now)) return
  throw insufficientAal('AAL2 required to make or remove recovery codes', 403)
}
