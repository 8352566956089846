import type { Trx } from '../../db/core/database.ts'
import { findUsername, findUsernameOwner } from '../../db/usernames/usernames.ts'
import { lockUser } from '../../db/users/update-user.ts'
import {
  findUser,
  findUserByEmail,
  findUserByPhone,
  isBanned,
  type UserRecord,
} from '../../db/users/users.ts'
import { userBanned, userFromTokenNotFound, userNotFound } from '../../schemas/errors.ts'

/** Locks and returns the user until the transaction ends; undefined when there is none. */
export async function lockAndLoadUser(trx: Trx, id: string): Promise<UserRecord | undefined> {
  await lockUser(trx, id)
  return findUser(trx, id)
}

/** The same for an admin; finds soft-deleted users. Throws user_not_found. */
export async function lockUserById(trx: Trx, id: string): Promise<UserRecord> {
  const user = await lockAndLoadUser(trx, id)
  if (!user) throw userNotFound()
  return user
}

/**
 * The same for the current user, who may have been deleted or banned since the authentication. Throws user_not_found or
 * user_banned.
 */
export async function lockActiveUser(trx: Trx, id: string, now: Date): Promise<UserRecord> {
  const user = await lockAndLoadUser(trx, id)
  if (!user || user.deleted_at) throw userFromTokenNotFound()
  if (isBanned(user, now)) throw userBanned(403)
  return user
}

/** The same by email; undefined also when the user changed it or was deleted concurrently. */
export async function lockUserByEmail(
  trx: Trx,
  email: string,
  aud: string,
): Promise<UserRecord | undefined> {
  const found = await findUserByEmail(trx, email, aud)
  const user = found && (await lockAndLoadUser(trx, found.id))
  return user?.email === email ? user : undefined
}

/** The same by phone number. */
export async function lockUserByPhone(
  trx: Trx,
  phone: string,
  aud: string,
): Promise<UserRecord | undefined> {
  const found = await findUserByPhone(trx, phone, aud)
  const user = found && (await lockAndLoadUser(trx, found.id))
  return user?.phone === phone ? user : undefined
}

/** The same by username; undefined also when the name was changed concurrently. */
export async function lockUserByUsername(
  trx: Trx,
  username: string,
  aud: string,
): Promise<UserRecord | undefined> {
  const owner = await findUsernameOwner(trx, username, aud)
  const user = owner && (await lockAndLoadUser(trx, owner.id))
  const present = user && (await findUsername(trx, user.id))
  return present?.username === username ? user : undefined
}

/** Reads the user again after a change of the locked row. */
export async function reloadUser(trx: Trx, id: string): Promise<UserRecord> {
  const user = await findUser(trx, id)
  if (!user) throw new Error('a locked user row disappeared inside its transaction')
  return user
}
