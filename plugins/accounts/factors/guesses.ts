/** The one place where codes of factors and recovery codes are counted as guesses. */
import type { Db } from '../../../db/database.ts'
import type { House } from '../../define-plugin.ts'

/** Throws over_request_rate_limit while the person has to wait; else the guess is counted, until it was right. */
export function gate({ otp }: House<'otp'>, db: Db, userId: string, now: Date) {
  return otp.gate(db, { kind: 'factor', account: userId }, now)
}

/**
 * Counted apart from the codes of factors, so that wrong ones of those do not lock out whoever lost theirs.
 * Throws like `gate`.
 */
export function gateRecoveryCode({ otp }: House<'otp'>, db: Db, userId: string, now: Date) {
  return otp.gate(db, { kind: 'factor', account: `recovery code of ${userId}` }, now)
}
