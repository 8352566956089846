/** The one place where codes of factors are counted as guesses. */
import type { Db } from '../../../db/database.ts'
import type { House } from '../../define-plugin.ts'

/** Throws over_request_rate_limit while the person has to wait; else the guess is counted, until it was right. */
export function gate({ otp }: House<'otp'>, db: Db, userId: string, now: Date) {
  return otp.gate(db, { kind: 'factor', account: userId }, now)
}
