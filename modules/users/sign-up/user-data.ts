/** Metadata and identity data of a sign-up, its owner, and the user in its response. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import type { NewIdentity } from '../../../db/identities/identities.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { findUserByAnyEmail, findUserByPhone, type UserRecord } from '../../../db/users/users.ts'

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

/** The owner of an identifier; for an email also by a verified identity. */
export function findOwner(
  db: Db,
  { provider, address }: LoginIdentifier,
  aud: string,
): Promise<UserRecord | undefined> {
  const find = provider === 'email' ? findUserByAnyEmail : findUserByPhone
  return find(db, address, aud)
}

/** Columns that are empty after a new sign-up. */
const emptyColumns = {
  email: null,
  email_confirmed_at: null,
  invited_at: null,
  phone: null,
  phone_confirmed_at: null,
  confirmed_at: null,
  recovery_sent_at: null,
  email_change: '',
  email_change_sent_at: null,
  email_change_confirm_status: 0,
  phone_change: '',
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
  last_sign_in_at: null,
  banned_until: null,
  is_sso_user: false,
  is_anonymous: false,
  factors: [],
}

/**
 * Returns the user as if created now: a repeated sign-up must not reveal when the first one was or what has happened
 * since, such as an invitation.
 */
export function toUnconfirmedUser(
  { config }: FastifyInstance,
  user: UserRecord,
  { provider, address }: LoginIdentifier,
  now: Date,
): UserRecord {
  const time = now.toISOString()
  const times = { last_sign_in_at: time, created_at: time, updated_at: time }
  return {
    ...user,
    ...emptyColumns,
    [provider]: address,
    role: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    raw_app_meta_data: { provider, providers: [provider] },
    identities: user.identities
      .filter((identity) => identity.provider === provider)
      .map((identity) => ({ ...identity, ...times })),
    confirmation_sent_at: now,
    created_at: now,
    updated_at: now,
  }
}
