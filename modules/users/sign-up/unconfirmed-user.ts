/** Finds or creates the unconfirmed user of a sign-up. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { asStored, deleteOtherPassword, replaceSignUp } from '../../../db/users/pending-sign-ups.ts'
import { lockUser } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { ApiError, accountChangedConcurrently } from '../../../schemas/errors.ts'
import { lockAndLoadUser } from '../lock.ts'
import { createPendingDraft, withPendingSignUp } from './clear-unverified.ts'
import { createUser } from './create-user.ts'
import type { SignUpInput, SignUpResult } from './types.ts'
import { findOwner, type LoginIdentifier, toNewIdentity, toUserMetadata } from './user-data.ts'

/** Returns the user of a new or unverified identifier; undefined when it belongs to a verified or invited account. */
export async function findOrCreateUnconfirmedUser(
  app: FastifyInstance,
  trx: Trx,
  user: SignUpInput,
  now: Date,
): Promise<SignUpResult | undefined> {
  const existing = await findOwner(trx, user.contact, user.aud)
  return reuseOrCreateUnconfirmedUser(app, trx, user, existing, now)
}

/** The same when the owner was just looked up in this transaction. */
export async function reuseOrCreateUnconfirmedUser(
  app: FastifyInstance,
  trx: Trx,
  input: SignUpInput,
  existing: UserRecord | undefined,
  now: Date,
): Promise<SignUpResult | undefined> {
  const { contact, aud } = input
  const user = existing ? undefined : await createUnconfirmedUser(app, trx, input, now)
  if (user) return { user }
  const owner = existing ?? (await findOwner(trx, contact, aud))
  // A verified owner is detected without a lock, whose duration would reveal it.
  if (!owner || !isFree(owner, input)) return undefined
  return repeatSignUp(app, trx, owner, input, now)
}

function isFree(owner: UserRecord, { byAdmin, contact }: SignUpInput): boolean {
  return byAdmin ? isUnverified(owner, contact) : isUnclaimed(owner, contact)
}

/**
 * Creates the user. Undefined when another request has taken the identifier concurrently. Throws service_unavailable
 * when the account from before the transaction was deleted.
 */
export async function createUnconfirmedUser(
  app: FastifyInstance,
  trx: Trx,
  { contact, aud, passwordHash, data, permit, byAdmin }: SignUpInput,
  now: Date,
): Promise<UserRecord | undefined> {
  if (!permit) throw accountChangedConcurrently()
  const { provider, address } = contact
  const { userId: id } = permit
  // Locks no row, but takes the time that a repeated sign-up takes.
  await lockUser(trx, id)
  const userMetadata = byAdmin ? data : toUserMetadata(id, contact, data)
  const user = {
    permit,
    aud,
    passwordHash,
    userMetadata,
    [provider]: address,
    appMetadata: { provider, providers: [provider] },
    identities: [toNewIdentity(id, contact, userMetadata)],
  }
  return createUser(app, trx, user, now)
}

/** The identifiers of an account and their confirmation times. */
type Addresses = Pick<UserRecord, 'email' | 'email_confirmed_at' | 'phone' | 'phone_confirmed_at'>

/** Whether a sign-up may replace this account: no identifier was ever verified, and there is no invitation. */
export function isUnclaimed(
  user: Addresses & Pick<UserRecord, 'invited_at'>,
  contact: LoginIdentifier,
): boolean {
  return isUnverified(user, contact) && user.invited_at === null
}

/** Whether no identifier of this account was ever verified. */
export function isUnverified(user: Addresses, { provider, address }: LoginIdentifier): boolean {
  const isCurrent = (provider === 'email' ? user.email : user.phone) === address
  return isCurrent && !user.email_confirmed_at && !user.phone_confirmed_at
}

/** Undefined when the identifier was verified or invited since it was read. */
async function repeatSignUp(
  app: FastifyInstance,
  trx: Trx,
  owner: UserRecord,
  input: SignUpInput,
  now: Date,
): Promise<SignUpResult | undefined> {
  if (!mayBeInUse(app, owner, input)) {
    const user = await replace(trx, owner, input, now)
    if (user) return { user }
  }
  const user = await lockAndLoadUser(trx, owner.id)
  if (!user || !isFree(user, input)) return undefined
  const draft = createPendingDraft(user, input)
  const { metadata, identity } = draft
  const stored = await asStored(trx, { metadata, identityData: identity.identity_data })
  const { passwordHash: given, byAdmin } = input
  // After sign-ups with different passwords, the verification sets none of them.
  const isOnly = given === user.encrypted_password || isBeforeFirstSignUp(user)
  const passwordHash = byAdmin || isOnly ? given : null
  const claim = { passwordHash, metadata: stored.metadata, byAdmin }
  return { user: withPendingSignUp(user, draft, stored, now), claim }
}

/** Whether the account was provisioned, and no sign-up has set or lost a password. */
const isBeforeFirstSignUp = ({ encrypted_password, confirmation_sent_at }: UserRecord) =>
  !encrypted_password && !confirmation_sent_at

/** A sign-up rejected by a send limit still conflicts with the previous one. Throws `error`. */
export async function recordRejectedSignUp(
  { config }: FastifyInstance,
  db: Db,
  { contact, passwordHash }: SignUpInput,
  error: unknown,
): Promise<never> {
  const isTooSoon = error instanceof ApiError && error.status === 429
  if (isTooSoon && !config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) {
    await deleteOtherPassword(db, contact.address, passwordHash)
  }
  throw error
}

/**
 * Replaces the previous sign-up of an unused account; undefined for a used one. The password is kept when both are the
 * same.
 */
async function replace(
  trx: Trx,
  owner: UserRecord,
  user: SignUpInput,
  now: Date,
): Promise<UserRecord | undefined> {
  const { contact, passwordHash, byAdmin } = user
  const draft = createPendingDraft(owner, user)
  const { metadata, identity } = draft
  await lockUser(trx, owner.id)
  const signUp = { address: contact.address, passwordHash, metadata, byAdmin }
  const stored = await replaceSignUp(trx, identity, signUp, now)
  return stored && withPendingSignUp(owner, draft, stored, now)
}

/** The account has been used, or the sign-up has no password to replace. */
function mayBeInUse(
  { config }: FastifyInstance,
  { identities, invited_at }: UserRecord,
  { contact, passwordHash }: SignUpInput,
): boolean {
  if (config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) return true
  if (passwordHash === null || invited_at !== null) return true
  return identities.some(({ provider }) => provider !== contact.provider)
}
