import type { Trx } from '../../../db/database.ts'
import { findUser, lockUser, type UserRecord } from '../../../db/users.ts'
import { userNotFound } from '../../../errors.ts'

/** The person as they are now, and until the transaction ends. Throws user_not_found. */
export async function lockedPerson(trx: Trx, userId: string): Promise<UserRecord> {
  await lockUser(trx, userId)
  const user = await findUser(trx, userId)
  if (!user || user.deleted_at) throw userNotFound()
  return user
}
