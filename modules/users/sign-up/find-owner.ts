import type { Db } from '../../../db/core/database.ts'
import { findUserByAnyEmail, findUserByPhone, type UserRecord } from '../../../db/users/users.ts'
import type { LoginIdentifier } from './user-data.ts'

/** The owner of an identifier; for an email also by a verified identity. */
export function findOwner(
  db: Db,
  { provider, address }: LoginIdentifier,
  aud: string,
): Promise<UserRecord | undefined> {
  const find = provider === 'email' ? findUserByAnyEmail : findUserByPhone
  return find(db, address, aud)
}
