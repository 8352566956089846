/** Metadata and identity data of a sign-up. */
import type { NewIdentity } from '../../../db/identities/identities.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import type { UserRecord } from '../../../db/users/users.ts'

/** An identifier at which the user can be reached. */
export interface LoginIdentifier {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
}

/** Claims that identify the user; never taken from the user's own data. */
const identityClaims = ['sub', 'email', 'phone', 'email_verified', 'phone_verified']

/** Sign-ups write the user id into the metadata; admins' metadata are stored unchanged. */
function isFromSignUp(userId: string, metadata: UserMetadata | null): boolean {
  return metadata?.sub === userId
}

/** Created, invited or given a link by an admin, without a sign-up or external sign-in since. */
export function isMadeByAdmin({ id, identities, raw_user_meta_data }: UserRecord): boolean {
  const isOwnAddress = identities.every(({ provider_id }) => provider_id === id)
  return isOwnAddress && !isFromSignUp(id, raw_user_meta_data)
}

/** The sign-up's data must not override the known claims of the identifier. */
export function toUserMetadata(
  userId: string,
  contact: LoginIdentifier,
  data: UserMetadata,
): UserMetadata {
  return { ...withoutNulls(data), ...buildIdentityClaims(userId, contact) }
}

/** In a merge null deletes a key; a new object has none to delete. */
export function withoutNulls(metadata: UserMetadata = {}): UserMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
}

/** Data of a sign-up is also identity data, an admin's is not. */
export function toNewIdentity(
  userId: string,
  contact: LoginIdentifier,
  metadata: UserMetadata,
): Omit<NewIdentity, 'user_id'> {
  const { provider } = contact
  const data = isFromSignUp(userId, metadata) ? metadata : {}
  const own = Object.entries(data).filter(([key]) => !identityClaims.includes(key))
  const identity_data = { ...Object.fromEntries(own), ...buildIdentityClaims(userId, contact) }
  return { provider, provider_id: userId, identity_data }
}

function buildIdentityClaims(sub: string, { provider, address }: LoginIdentifier): UserMetadata {
  const email = provider === 'email' && { email: address }
  return { sub, ...email, email_verified: false, phone_verified: false }
}
