import type { Trx } from '../../../db/database.ts'
import { lockUser } from '../../../db/user-rows.ts'
import {
  findUser,
  findUserByEmail,
  findUserByPhone,
  isBanned,
  type UserRecord,
} from '../../../db/users.ts'
import { userBanned, userFromTokenNotFound, userNotFound } from '../../../errors.ts'

/** The person as they are now and until the transaction ends; undefined when there is none. */
export async function lock(trx: Trx, id: string): Promise<UserRecord | undefined> {
  await lockUser(trx, id)
  return findUser(trx, id)
}

/** The same of somebody whom an admin names; a softly deleted person is found. Throws user_not_found. */
export async function lockNamed(trx: Trx, id: string): Promise<UserRecord> {
  const user = await lock(trx, id)
  if (!user) throw userNotFound()
  return user
}

/**
 * The same of somebody who acts for themselves, who may have been deleted or banned since they were let in.
 * Throws user_not_found or user_banned.
 */
export async function lockLive(trx: Trx, id: string, now: Date): Promise<UserRecord> {
  const user = await lock(trx, id)
  if (!user || user.deleted_at) throw userFromTokenNotFound()
  if (isBanned(user, now)) throw userBanned(403)
  return user
}

/** The same of whoever has this email address; undefined also for somebody who gave it up or was deleted meanwhile. */
export async function lockByEmail(
  trx: Trx,
  email: string,
  aud: string,
): Promise<UserRecord | undefined> {
  const found = await findUserByEmail(trx, email, aud)
  const user = found && (await lock(trx, found.id))
  return user?.email === email ? user : undefined
}

/** The same of whoever has this number. */
export async function lockByPhone(
  trx: Trx,
  phone: string,
  aud: string,
): Promise<UserRecord | undefined> {
  const found = await findUserByPhone(trx, phone, aud)
  const user = found && (await lock(trx, found.id))
  return user?.phone === phone ? user : undefined
}

/** The person after a change to a row that this transaction has locked. */
export async function reload(trx: Trx, id: string): Promise<UserRecord> {
  const user = await findUser(trx, id)
  if (!user) throw new Error('a user vanished inside a transaction that holds its lock')
  return user
}
