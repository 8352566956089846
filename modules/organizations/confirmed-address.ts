import type { Db } from '../../db/core/database.ts'
import { isAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../db/users/users.ts'

/**
 * The address by which a user joins without the token of an invitation: one that they confirmed. An address that was
 * confirmed without verification may be another user's, and that of an SSO user is what the provider of some
 * organization says.
 */
export async function findConfirmedAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const { id: user_id, email: address, email_confirmed_at, is_sso_user, is_anonymous } = user
  if (!address || !email_confirmed_at || is_sso_user || is_anonymous) return undefined
  return (await isAutoconfirmed(db, { user_id, address })) ? undefined : address
}
