/** The identifiers of an account that its holder has confirmed. */
import { isPreparedAccount } from '../../db/admins/admins.ts'
import type { Db } from '../../db/core/database.ts'
import { isAutoconfirmed, listAssumedAddresses } from '../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { emailNotConfirmed } from '../../schemas/errors.ts'

/** The confirmed address of an account that is no SSO account, whose address the provider of any tenant may claim. */
function findOwnAddress(user: UserRecord): string | undefined {
  const { email, email_confirmed_at, is_sso_user, is_anonymous } = user
  return email && email_confirmed_at && !is_sso_user && !is_anonymous ? email : undefined
}

/**
 * The confirmed address by which a tenant that has verified the domain finds an account. Not one that was autoconfirmed,
 * which may belong to another user; the assertion of a SCIM client counts, as the tenant has the domain.
 */
export async function findConfirmedAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const address = findOwnAddress(user)
  if (address === undefined) return undefined
  return (await isAutoconfirmed(db, { user_id: user.id, address })) ? undefined : address
}

/**
 * The address that its holder has proven, by which the user joins without the token of an invitation, or gets a role on
 * the server. Not one that only a setting, a tenant or an admin who changed it took as confirmed.
 */
export async function findProvenAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const address = findOwnAddress(user)
  if (address === undefined) return undefined
  return (await listAssumedAddresses(db, user.id)).includes(address) ? undefined : address
}

/** Whether a holder has confirmed the account's email or phone: it has an owner, and not only who signed up. */
export async function hasConfirmedIdentifier(
  db: Db,
  { id: user_id, email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord,
): Promise<boolean> {
  const confirmed = [email_confirmed_at && email, phone_confirmed_at && phone]
  for (const address of confirmed) {
    if (address && !(await isAutoconfirmed(db, { user_id, address }))) return true
  }
  return false
}

/** Whether a holder has proven the account's email or phone. */
export async function hasProvenIdentifier(
  db: Db,
  { id, email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord,
): Promise<boolean> {
  const confirmed = [email_confirmed_at && email, phone_confirmed_at && phone]
  const assumed = await listAssumedAddresses(db, id)
  return confirmed.some((address) => address && !assumed.includes(address))
}

/**
 * Whether the account may get a role on the server: its holder has proven the address by which the owner of the server
 * knows it, or the number where there is no address. `isNamed`: the account itself is named, and may then be one that a
 * SAML provider made. Not one that an operator prepared (`recordPreparation`).
 */
export async function hasProvenHolder(
  db: Db,
  user: UserRecord,
  { isNamed }: { isNamed: boolean },
): Promise<boolean> {
  if (await isPreparedAccount(db, user.id)) return false
  if (isNamed && user.is_sso_user) return true
  if (user.email) return (await findProvenAddress(db, user)) !== undefined
  return hasProvenIdentifier(db, user)
}

/** As `hasProvenHolder`, for an account that exists. Throws email_not_confirmed. */
export async function requireProvenHolder(
  db: Db,
  user: UserRecord,
  account: { isNamed: boolean },
): Promise<void> {
  if (await hasProvenHolder(db, user, account)) return
  throw emailNotConfirmed(
    'A role on the server needs an address that the holder of the account has confirmed: by a link that is sent to it, or by a sign-in at a provider that has verified it. For an account that an operator created or gave its address, an owner confirms it (PUT /admin/users/{user_id} with email_confirm). POST /admin/admins makes a link by which the holder sets a password.',
    422,
  )
}
