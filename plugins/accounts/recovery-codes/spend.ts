import type { Trx } from '../../../db/database.ts'
import { countRecoveryCodes, takeRecoveryCode } from '../../../db/recovery-codes.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import type { StoredSession } from '../sessions/answer.ts'
import { hashesOf, readCode } from './codes.ts'

/**
 * Spends the code and raises the session to aal2; undefined when the code is none of those left. The caller holds the
 * member. Throws session_not_found or session_expired.
 */
export async function spend(
  house: House<'audit' | 'emails' | 'encryption' | 'sessions'>,
  trx: Trx,
  { user, session }: Member,
  typed: string,
  { ip, now }: { ip: string; now: Date },
): Promise<StoredSession | undefined> {
  const { id } = user
  const code = readCode(typed)
  if (!code || !(await takeRecoveryCode(trx, id, hashesOf(house, id, code)))) return undefined
  const remaining = await countRecoveryCodes(trx, id)
  await house.audit.record(trx, 'recovery_code_used', user, { ip, now, traits: { remaining } })
  const kind = 'recovery_code_used_notification'
  await house.emails.notify(trx, user, { kind, Remaining: String(remaining) }, now)
  return house.sessions.upgrade(trx, session, { method: 'recovery_code', ip }, now)
}
