/** Registering an address: a new account, or the old one of an address that nobody has proven yet. */
import type { Db, Trx } from '../../../db/database.ts'
import { asStored, replaceSignUp, type SignUpClaim } from '../../../db/pending-sign-ups.ts'
import { lockUser } from '../../../db/user-rows.ts'
import {
  findUserByAnyEmail,
  findUserByPhone,
  type Metadata,
  type UserRecord,
} from '../../../db/users.ts'
import { accountChangedMeanwhile } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Approval } from './approval.ts'
import { asClaimed, draftOf } from './claimed.ts'
import { type CreateHouse, create } from './create.ts'
import { lock } from './lock.ts'
import { type Contact, identityOf, metadataOf } from './sign-up-data.ts'

/** Whoever signs up, is signed up by asking for a code, or is invited. */
export interface Registrant {
  contact: Contact
  aud: string
  passwordHash: string | null
  data: Metadata
  /** For a new account; undefined where there was one before the transaction began. */
  approval: Approval | undefined
  /** An admin may ask for a new link in place of an invitation; nobody else voids one. */
  byAdmin: boolean
}

export interface Registration {
  /** As whoever signed up may be shown them. */
  user: UserRecord
  /** What the account does not take before its address is proven; see `keepForProof`. */
  claim?: SignUpClaim
}

/** Registers an address that is new or still unproven; undefined when it is part of a proven or invited account. */
export async function register(
  house: CreateHouse,
  trx: Trx,
  person: Registrant,
  now: Date,
): Promise<Registration | undefined> {
  const existing = await findOwner(trx, person.contact, person.aud)
  return registerBeside(house, trx, person, existing, now)
}

/** The same where the owner of the address, if any, has just been looked up in this transaction. */
export async function registerBeside(
  house: CreateHouse,
  trx: Trx,
  person: Registrant,
  existing: UserRecord | undefined,
  now: Date,
): Promise<Registration | undefined> {
  const { contact, aud } = person
  const user = existing ? undefined : await createRegistrant(house, trx, person, now)
  if (user) return { user }
  const owner = existing ?? (await findOwner(trx, contact, aud))
  // Whoever has a proven address keeps it: that is seen without a lock, which would take time that tells of it.
  if (!owner || !isFree(owner, person)) return undefined
  return registerAgain(house, trx, owner, person, now)
}

function isFree(owner: UserRecord, { byAdmin, contact }: Registrant): boolean {
  return byAdmin ? isUnproven(owner, contact) : isUnclaimed(owner, contact)
}

/**
 * A new account. Undefined when another request has just registered the address. Throws service_unavailable when the
 * account that was there before the transaction began is gone.
 */
export async function createRegistrant(
  house: CreateHouse,
  trx: Trx,
  { contact, aud, passwordHash, data, approval, byAdmin }: Registrant,
  now: Date,
): Promise<UserRecord | undefined> {
  if (!approval) throw accountChangedMeanwhile()
  const { provider, address } = contact
  const { userId: id } = approval
  // There is nothing to lock; but who signs up again is locked, and must not be told by the time that it takes.
  await lockUser(trx, id)
  const userMetadata = byAdmin ? data : metadataOf(id, contact, data)
  const person = {
    approval,
    aud,
    passwordHash,
    userMetadata,
    [provider]: address,
    appMetadata: { provider, providers: [provider] },
    identities: [identityOf(id, contact, userMetadata)],
  }
  return create(house, trx, person, now)
}

/** The addresses of an account, and since when they are proven. */
type Addresses = Pick<UserRecord, 'email' | 'email_confirmed_at' | 'phone' | 'phone_confirmed_at'>

/** A sign-up may claim this account: nobody has shown that it is theirs by any address, and nobody is invited to it. */
export function isUnclaimed(
  user: Addresses & Pick<UserRecord, 'invited_at'>,
  contact: Contact,
): boolean {
  return isUnproven(user, contact) && user.invited_at === null
}

/** Nobody has shown that this account is theirs by any address. */
export function isUnproven(user: Addresses, { provider, address }: Contact): boolean {
  const isTheirs = (provider === 'email' ? user.email : user.phone) === address
  return isTheirs && !user.email_confirmed_at && !user.phone_confirmed_at
}

/** Whoever has the address; an email address also by an identity of a provider. */
export function findOwner(
  db: Db,
  { provider, address }: Contact,
  aud: string,
): Promise<UserRecord | undefined> {
  const find = provider === 'email' ? findUserByAnyEmail : findUserByPhone
  return find(db, address, aud)
}

/** Undefined when somebody has proven the address since it was read, or is invited to it. */
async function registerAgain(
  house: House<'config'>,
  trx: Trx,
  owner: UserRecord,
  person: Registrant,
  now: Date,
): Promise<Registration | undefined> {
  if (!mayBeInUse(house, owner, person)) {
    const user = await replace(trx, owner, person, now)
    if (user) return { user }
  }
  const user = await lock(trx, owner.id)
  if (!user || !isFree(user, person)) return undefined
  const draft = draftOf(user, person)
  const { metadata, identity } = draft
  const stored = await asStored(trx, { metadata, identityData: identity.identity_data })
  const claim = { passwordHash: person.passwordHash, metadata: stored.metadata }
  return { user: asClaimed(user, draft, stored), claim }
}

/** The sign-up in place of the one before it, where nobody has been in the account; undefined where somebody has. */
async function replace(
  trx: Trx,
  owner: UserRecord,
  person: Registrant,
  now: Date,
): Promise<UserRecord | undefined> {
  const { contact, passwordHash } = person
  const draft = draftOf(owner, person)
  const { metadata, identity } = draft
  await lockUser(trx, owner.id)
  const signUp = { address: contact.address, passwordHash, metadata }
  const stored = await replaceSignUp(trx, identity, signUp, now)
  return stored && asClaimed(owner, draft, stored)
}

/** Somebody would lose what they have; or nothing is brought that could take the place of a password. */
function mayBeInUse(
  { config }: House<'config'>,
  { identities, invited_at }: UserRecord,
  { contact, passwordHash }: Registrant,
): boolean {
  if (config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) return true
  if (passwordHash === null || invited_at !== null) return true
  return identities.some(({ provider }) => provider !== contact.provider)
}
