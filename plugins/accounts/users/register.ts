/** Registering an address: a new account, or the old one of an address that nobody has proven yet. */
import type { Db, Trx } from '../../../db/database.ts'
import { putIdentity } from '../../../db/identities.ts'
import { isInUse, type SignUpClaim, takePendingSignUp } from '../../../db/pending-sign-ups.ts'
import {
  findUserByAnyEmail,
  findUserByPhone,
  type Metadata,
  type UserRecord,
} from '../../../db/users.ts'
import { accountChangedMeanwhile } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Approval } from './approval.ts'
import { type CreateHouse, create } from './create.ts'
import { dropUnproven } from './drop-unproven.ts'
import { lock, reload } from './lock.ts'
import { type Contact, identityOf, isMadeByAdmin, metadataOf } from './sign-up-data.ts'

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
  house: CreateHouse & House<'sessions'>,
  trx: Trx,
  person: Registrant,
  now: Date,
): Promise<Registration | undefined> {
  const existing = await findOwner(trx, person.contact, person.aud)
  return registerBeside(house, trx, person, existing, now)
}

/** The same where the owner of the address, if any, has just been looked up in this transaction. */
export async function registerBeside(
  house: CreateHouse & House<'sessions'>,
  trx: Trx,
  person: Registrant,
  existing: UserRecord | undefined,
  now: Date,
): Promise<Registration | undefined> {
  const { contact, aud } = person
  const user = existing ? undefined : await createRegistrant(house, trx, person, now)
  if (user) return { user }
  const owner = existing ?? (await findOwner(trx, contact, aud))
  return owner && registerAgain(house, trx, owner.id, person, now)
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
  const userMetadata = byAdmin ? data : metadataOf(id, contact, data)
  const person = {
    ...{ approval, aud, passwordHash, userMetadata, [provider]: address },
    appMetadata: { provider, providers: [provider] },
    identities: [identityOf(id, contact, userMetadata)],
  }
  return create(house, trx, person, now)
}

/** A sign-up may claim this account: nobody has shown that it is theirs by any address, and nobody is invited to it. */
export function isUnclaimed(user: UserRecord, contact: Contact): boolean {
  return isUnproven(user, contact) && user.invited_at === null
}

/** Nobody has shown that this account is theirs by any address. */
export function isUnproven(user: UserRecord, { provider, address }: Contact): boolean {
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
  house: House<'config' | 'events' | 'sessions'>,
  trx: Trx,
  id: string,
  person: Registrant,
  now: Date,
): Promise<Registration | undefined> {
  const { contact, passwordHash } = person
  const user = await lock(trx, id)
  const isFree = person.byAdmin ? isUnproven : isUnclaimed
  if (!user || !isFree(user, contact)) return undefined
  const claim = { passwordHash, metadata: metadataFor(user, person) }
  if (await mayBeInUse(house, trx, user, person))
    return { user: asClaimed(user, contact, claim), claim }
  await takePendingSignUp(trx, id)
  await takeOver(house, trx, user, contact, claim, now)
  return { user: await reload(trx, id) }
}

/** What the sign-up says of them; what an admin said before stays, and a sign-up's data is nobody's proven own. */
function metadataFor(user: UserRecord, { contact, data, byAdmin }: Registrant): Metadata {
  if (!byAdmin) return metadataOf(user.id, contact, data)
  return isMadeByAdmin(user) ? (user.raw_user_meta_data ?? {}) : data
}

/** Somebody would lose what they have; or nothing is brought that could take the place of a password. */
async function mayBeInUse(
  { config }: House<'config'>,
  trx: Trx,
  { id, identities, invited_at }: UserRecord,
  { contact, passwordHash }: Registrant,
): Promise<boolean> {
  if (config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) return true
  if (passwordHash === null || invited_at !== null) return true
  if (identities.some(({ provider }) => provider !== contact.provider)) return true
  return isInUse(trx, id)
}

/** Password and metadata become those of the sign-up, and what else was there goes. */
export async function takeOver(
  house: House<'sessions'>,
  trx: Trx,
  user: UserRecord,
  contact: Contact,
  { passwordHash, metadata }: SignUpClaim,
  now: Date,
): Promise<void> {
  const { provider } = contact
  const identity = { ...identityOf(user.id, contact, metadata), user_id: user.id }
  await putIdentity(trx, identity, now)
  await dropUnproven(house, trx, user, { keepIdentity: { provider }, passwordHash, metadata }, now)
}

/** The account as it would be by this sign-up alone: what is in it is nothing to whoever signed up. */
function asClaimed(user: UserRecord, contact: Contact, { metadata }: SignUpClaim): UserRecord {
  const { provider, address } = contact
  const own = user.identities.find((identity) => identity.provider === provider)
  const identity = {
    ...identityOf(user.id, contact, metadata),
    ...{ id: own?.id ?? crypto.randomUUID(), user_id: user.id },
    ...{ last_sign_in_at: null, created_at: null, updated_at: null },
    email: provider === 'email' ? address : null,
  }
  return { ...user, raw_user_meta_data: metadata, identities: [identity] }
}
