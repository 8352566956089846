import type { Db } from '../../../db/core/database.ts'
import { findUser, type UserRecord } from '../../../db/users/users.ts'
import { userNotFound } from '../../../schemas/errors.ts'

/** The user of the path. Throws user_not_found. */
export async function requireUserParam(db: Db, id: string): Promise<UserRecord> {
  const user = await findUser(db, id)
  if (!user) throw userNotFound()
  return user
}
