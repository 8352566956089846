/** Whether clients may rely on the addresses of a user (OpenID Connect Core §5.1). */
import type { Db } from '../../../db/core/database.ts'
import { listAssumedAddresses } from '../../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { VerifiedContacts } from '../../../schemas/oauth/shared-metadata.ts'

type Contacts = Pick<
  UserRecord,
  | 'id'
  | 'email'
  | 'email_confirmed_at'
  | 'phone'
  | 'phone_confirmed_at'
  | 'is_sso_user'
  | 'is_anonymous'
>

/**
 * True only for an address that its holder confirmed to this server, that a provider verified by the rules of account
 * linking, or that the operator confirmed. A client may link its own account by it, so an address that anyone could have
 * entered, or that the identity provider of a tenant asserts, is not verified (docs/oauth-server.md).
 */
export async function findVerifiedContacts(db: Db, user: Contacts): Promise<VerifiedContacts> {
  const { email, phone, is_sso_user, is_anonymous } = user
  const isEmailConfirmed = Boolean(email && user.email_confirmed_at)
  const isPhoneConfirmed = Boolean(phone && user.phone_confirmed_at)
  if (!isEmailConfirmed && !isPhoneConfirmed) return { email: false, phone: false }
  const assumed = await listAssumedAddresses(db, user.id)
  return {
    email: isEmailConfirmed && !is_sso_user && !is_anonymous && !assumed.includes(email ?? ''),
    phone: isPhoneConfirmed && !assumed.includes(phone ?? ''),
  }
}
