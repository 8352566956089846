/** Verification of the current password. */
import type { Db } from '../../db/core/database.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { throttleAttempt } from '../otp/index.ts'

/** Has its own counter: failed sign-ins of unauthenticated clients must not lock the user out here. */
export const createPasswordAttempt = ({ id }: UserRecord) =>
  ({ kind: 'password', account: `current password of ${id}` }) as const

/** Verifies the password. Counted as an attempt, together with those of password changes. */
export async function isCurrentPassword(
  { otp, passwords }: Deps<'otp' | 'passwords'>,
  db: Db,
  user: UserRecord,
  password: string,
  now: Date,
): Promise<boolean> {
  passwords.checkLength(password)
  const attempt = await throttleAttempt(otp, db, createPasswordAttempt(user), now)
  return attempt.check(db, () => passwords.verify(user, password), Boolean)
}
