/** The person an identity belongs to, and whether they may come in. */
import type { Trx } from '../../../db/database.ts'
import { findUser, isBanned, type UserRecord } from '../../../db/users.ts'
import { userBanned, userNotFound } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

/** The person as they are now, and until the transaction ends. Throws user_not_found. */
export async function lockPerson(
  { users }: House<'users'>,
  trx: Trx,
  userId: string,
): Promise<UserRecord> {
  const user = await users.lock(trx, userId)
  if (!user || user.deleted_at) throw userNotFound()
  return user
}

/** The person after what this transaction changed; softly deleted ones too. Throws user_not_found. */
export async function readPerson(trx: Trx, userId: string): Promise<UserRecord> {
  const user = await findUser(trx, userId)
  if (!user) throw userNotFound()
  return user
}

/** Throws user_not_found or user_banned. */
export function checkState(user: UserRecord, now: Date): void {
  if (user.deleted_at) throw userNotFound()
  if (isBanned(user, now)) throw userBanned(403)
}
