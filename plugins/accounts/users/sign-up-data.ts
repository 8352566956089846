/** What a sign-up says of a person, and what of it their identity says. */
import type { NewIdentity } from '../../../db/identities.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'

/** An address to be registered, by which a person can be written to. */
export interface Contact {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
}

/** By these an identity says whose it is and what is proven of it: never in a person's own words. */
const identityClaims = ['sub', 'email', 'phone', 'email_verified', 'phone_verified']

/** A sign-up writes into the metadata whose it is; what an admin says of somebody is stored as it came. */
function isFromSignUp(userId: string, metadata: Metadata | null): boolean {
  return metadata?.sub === userId
}

/** Invited, created or given a link by an admin; nobody has signed up with the address or come from a provider. */
export function isMadeByAdmin({ id, identities, raw_user_meta_data }: UserRecord): boolean {
  const isOwnAddress = identities.every(({ provider_id }) => provider_id === id)
  return isOwnAddress && !isFromSignUp(id, raw_user_meta_data)
}

/** The sign-up's own data may not speak over what we know of the address. */
export function metadataOf(userId: string, contact: Contact, data: Metadata): Metadata {
  return { ...withoutNulls(data), ...claimsOf(userId, contact) }
}

/** A null asks for the deletion of a key, and a new object has none. */
export function withoutNulls(metadata: Metadata = {}): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
}

/** Data of a sign-up is the identity's as well, an admin's is not. */
export function identityOf(
  userId: string,
  contact: Contact,
  metadata: Metadata,
): Omit<NewIdentity, 'user_id'> {
  const { provider } = contact
  const data = isFromSignUp(userId, metadata) ? metadata : {}
  const own = Object.entries(data).filter(([key]) => !identityClaims.includes(key))
  const identity_data = { ...Object.fromEntries(own), ...claimsOf(userId, contact) }
  return { provider, provider_id: userId, identity_data }
}

function claimsOf(sub: string, { provider, address }: Contact): Metadata {
  const email = provider === 'email' && { email: address }
  return { sub, ...email, email_verified: false, phone_verified: false }
}
