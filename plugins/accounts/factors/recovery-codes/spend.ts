/** A recovery code is typed in the place of a lost second factor, each of them once. */
import type { Db, Trx } from '../../../../db/database.ts'
import {
  countRecoveryCodes,
  hasRecoveryCode,
  takeRecoveryCode,
} from '../../../../db/recovery-codes.ts'
import type { Session } from '../../../../schemas/session.ts'
import type { Member } from '../../../bearer-auth.ts'
import type { House } from '../../../define-plugin.ts'
import type { ApprovedUpgrade } from '../../sessions/upgrade.ts'
import { hashesOf, readCode } from './codes.ts'

/** A code that is one of those left, and what the access token that it leads to will say. */
export interface ApprovedCode {
  code: string
  approval: ApprovedUpgrade
}

/**
 * Asks the operator's hook for the claims, before the code is spent. Undefined for a code that is none of those left.
 * Throws HookError.
 */
export async function approveRecoveryCode(
  house: House<'encryption' | 'sessions'>,
  db: Db,
  { user, session }: Member,
  typed: string,
  { ip, now }: { ip: string; now: Date },
): Promise<ApprovedCode | undefined> {
  const code = readCode(typed)
  if (!code || !(await hasRecoveryCode(db, user.id, hashesOf(house, user.id, code)))) {
    return undefined
  }
  const asked = { method: 'recovery_code', ip } as const
  return { code, approval: await house.sessions.approveUpgrade(session, asked, now) }
}

/**
 * Spends the code and raises the session to aal2; undefined when the code was spent meanwhile. The caller holds the
 * member. Throws session_not_found, session_expired or token_too_large.
 */
export async function spendRecoveryCode(
  house: House<'audit' | 'emails' | 'encryption' | 'sessions'>,
  trx: Trx,
  { user, session }: Member,
  { code, approval }: ApprovedCode,
  { ip, now }: { ip: string; now: Date },
): Promise<Session | undefined> {
  const { id } = user
  if (!(await takeRecoveryCode(trx, id, hashesOf(house, id, code)))) return undefined
  const remaining = await countRecoveryCodes(trx, id)
  await house.audit.record(trx, 'recovery_code_used', user, { ip, now, traits: { remaining } })
  const kind = 'recovery_code_used_notification'
  await house.emails.notify(trx, user, { kind, Remaining: String(remaining) }, now)
  return house.sessions.upgrade(trx, session, { approval }, now)
}
