import type { Db } from '../../db/core/database.ts'
import { isAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../db/users/users.ts'

/**
 * The confirmed address by which a user joins without the token of an invitation. Not an address that was confirmed
 * without verification, which may belong to another user, nor that of an SSO user, which the identity provider of any
 * organization may claim.
 */
export async function findConfirmedAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const { id: user_id, email: address, email_confirmed_at, is_sso_user, is_anonymous } = user
  if (!address || !email_confirmed_at || is_sso_user || is_anonymous) return undefined
  return (await isAutoconfirmed(db, { user_id, address })) ? undefined : address
}
