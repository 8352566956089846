import { insufficientAal } from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'

/** Whoever holds a session at aal1 must not make codes, nor take those of the person away. Throws insufficient_aal. */
export function requireSecondFactor(
  { sessionPolicy }: House<'sessionPolicy'>,
  member: Member,
  now: Date,
): void {
  const { aal } = member.session
  const isRaised = aal === 'aal2' || aal === 'aal3'
  if (isRaised && sessionPolicy.isConfirmed(member, now)) return
  throw insufficientAal('AAL2 required to make or remove recovery codes', 403)
}
