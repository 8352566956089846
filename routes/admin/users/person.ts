import type { Db } from '../../../db/database.ts'
import { findUser, type UserRecord } from '../../../db/users.ts'
import { userNotFound } from '../../../errors.ts'

/** The person that an admin names. Throws user_not_found. */
export async function requirePerson(db: Db, id: string): Promise<UserRecord> {
  const user = await findUser(db, id)
  if (!user) throw userNotFound()
  return user
}
