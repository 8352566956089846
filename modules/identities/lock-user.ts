/** Locks the user of an identity and checks that they may sign in. */
import type { Trx } from '../../db/core/database.ts'
import { findUser, isBanned, type UserRecord } from '../../db/users/users.ts'
import { userBanned, userNotFound } from '../../schemas/errors.ts'
import { lockAndLoadUser } from '../users/index.ts'

/** Locks and returns the user. Throws user_not_found. */
export async function lockUserOrThrow(trx: Trx, userId: string): Promise<UserRecord> {
  const user = await lockAndLoadUser(trx, userId)
  if (!user || user.deleted_at) throw userNotFound()
  return user
}

/** Returns the user after the changes of this transaction, soft-deleted ones too. Throws user_not_found. */
export async function findUserOrThrow(trx: Trx, userId: string): Promise<UserRecord> {
  const user = await findUser(trx, userId)
  if (!user) throw userNotFound()
  return user
}

/** Throws user_not_found or user_banned. */
export function checkState(user: UserRecord, now: Date): void {
  if (user.deleted_at) throw userNotFound()
  if (isBanned(user, now)) throw userBanned(403)
}
