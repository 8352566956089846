/** The rows of a new person, and what becomes of those of an address that nobody has proven. */
import type { Trx } from '../../../db/database.ts'
import { deleteOtherIdentities, insertIdentity, putIdentity } from '../../../db/identities.ts'
import { deleteSessions } from '../../../db/sessions.ts'
import { replaceUserMetadata } from '../../../db/user-edits.ts'
import {
  findUser,
  findUserByAnyEmail,
  findUserByPhone,
  insertUser,
  lockUser,
  type Metadata,
  type UserRecord,
  updateUser,
} from '../../../db/users.ts'
import { toIdentityJson } from '../identity-json.ts'
import { asNew } from './as-new.ts'

/** An address to be registered, by which a person can be written to. */
export interface Contact {
  provider: 'email' | 'phone'
  /** In its stored form. */
  address: string
}

export interface NewPerson {
  contact: Contact
  aud: string
  passwordHash: string | null
  data: Metadata
}

export function createRegistration(defaultRole: string) {
  /** Undefined when another request has just registered the address. */
  async function insert(trx: Trx, person: NewPerson, now: Date): Promise<UserRecord | undefined> {
    const { contact, aud, passwordHash, data } = person
    const id = crypto.randomUUID()
    const identityData = identityDataOf(id, contact, data)
    const user = await insertUser(
      trx,
      {
        id,
        aud,
        role: defaultRole,
        email: contact.provider === 'email' ? contact.address : null,
        phone: contact.provider === 'phone' ? contact.address : null,
        encrypted_password: passwordHash,
        raw_app_meta_data: { provider: contact.provider, providers: [contact.provider] },
        raw_user_meta_data: identityData,
        is_anonymous: false,
      },
      now,
    )
    if (!user) return undefined
    const identity = await insertIdentity(
      trx,
      { user_id: id, provider: contact.provider, provider_id: id, identity_data: identityData },
      now,
    )
    return { ...user, identities: [toIdentityJson(identity)] }
  }

  /**
   * The address is still nobody's: password and metadata become those of this sign-up. Undefined when somebody
   * has proven it since it was read.
   */
  async function takeOver(
    trx: Trx,
    { id }: Pick<UserRecord, 'id'>,
    person: NewPerson,
    now: Date,
  ): Promise<UserRecord | undefined> {
    const { contact, passwordHash, data } = person
    await lockUser(trx, id)
    const user = await findUser(trx, id)
    if (!user || !isUnproven(user, contact)) return undefined
    const identityData = identityDataOf(id, contact, data)
    await updateUser(trx, id, { encrypted_password: passwordHash }, now)
    await replaceUserMetadata(trx, id, identityData, now)
    await deleteOtherIdentities(trx, id, [contact.provider])
    const { provider } = contact
    const identity = { user_id: id, provider, provider_id: id, identity_data: identityData }
    await putIdentity(trx, identity, now)
    await deleteSessions(trx, id)
    return reload(trx, id)
  }

  return {
    insert,
    takeOver,

    /** Registers an address that is new or still unproven; undefined when it is part of a proven account. */
    async register(trx: Trx, person: NewPerson, now: Date): Promise<UserRecord | undefined> {
      const { contact, aud } = person
      const existing = await findOwner(trx, contact, aud)
      const user = existing ? undefined : await insert(trx, person, now)
      if (user) return user
      const owner = existing ?? (await findOwner(trx, contact, aud))
      return owner && takeOver(trx, owner, person, now)
    },

    /** The person as their sign-up is answered. */
    asNew: (user: UserRecord, contact: Contact, now: Date): UserRecord =>
      asNew(user, contact, defaultRole, now),

    /** A person without any address; they may add one later and keep their id. */
    async insertAnonymous(trx: Trx, aud: string, data: Metadata, now: Date): Promise<UserRecord> {
      const user = {
        id: crypto.randomUUID(),
        aud,
        role: defaultRole,
        email: null,
        phone: null,
        encrypted_password: null,
        raw_app_meta_data: {},
        raw_user_meta_data: data,
        is_anonymous: true,
      }
      const inserted = await insertUser(trx, user, now)
      if (!inserted) throw new Error('a random id was taken')
      return inserted
    },
  }
}

function findOwner(trx: Trx, { provider, address }: Contact, aud: string) {
  const find = provider === 'email' ? findUserByAnyEmail : findUserByPhone
  return find(trx, address, aud)
}

/** Nobody has shown that this account is theirs by any address: only such an account may be signed up again. */
export function isUnproven(user: UserRecord, { provider, address }: Contact): boolean {
  const isTheirs = (provider === 'email' ? user.email : user.phone) === address
  return isTheirs && !user.email_confirmed_at && !user.phone_confirmed_at
}

/** The sign-up's own data may not speak over what we know of the address. */
function identityDataOf(userId: string, contact: Contact, data: Metadata): Metadata {
  return {
    ...data,
    sub: userId,
    ...(contact.provider === 'email' && { email: contact.address }),
    email_verified: false,
    phone_verified: false,
  }
}

export async function reload(trx: Trx, userId: string): Promise<UserRecord> {
  const user = await findUser(trx, userId)
  if (!user) throw new Error('a user vanished inside a transaction that holds its lock')
  return user
}
