/**
 * Signing up: a new person, a repeated sign-up of an address nobody has proven yet, or one that is taken.
 * What was set before an address was proven never survives a new proof that did not come with it.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sql } from 'kysely'

import type { Trx } from '../../db/database.ts'
import { deleteOtherIdentities, insertIdentity, putIdentity } from '../../db/identities.ts'
import { deleteSessions } from '../../db/sessions.ts'
import {
  findUser,
  findUserByAnyEmail,
  insertUser,
  lockUser,
  type Metadata,
  mergeMetadata,
  replaceUserMetadata,
  type UserRecord,
  updateUser,
} from '../../db/users.ts'
import { toIdentityJson } from './identity-json.ts'
import type { LinkContext } from './links.ts'

declare module 'fastify' {
  interface FastifyInstance {
    signUps: ReturnType<typeof createSignUps>
  }
}

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

export type SignUpOutcome =
  | { state: 'confirmed'; user: UserRecord }
  | { state: 'to be confirmed'; user: UserRecord }
  /** The address has an owner. Only where every sign-up is confirmed at once may the client be told. */
  | { state: 'taken'; told: boolean; decoy: UserRecord }

interface SignUpDeps {
  defaultRole: string
  /** Email addresses are taken as proven. */
  autoconfirm: boolean
  /** With any kind of autoconfirmation, a client can tell a taken address anyway. */
  tellsTaken: boolean
  passwords: FastifyInstance['passwords']
  letters: FastifyInstance['letters']
  sendLimits: FastifyInstance['sendLimits']
  audit: FastifyInstance['audit']
}

export interface EmailSignUp {
  person: NewPerson
  /** In clear, for comparing with an account that was never confirmed. */
  password: string
  context: LinkContext
  ip: string
}

export function createSignUps(deps: SignUpDeps) {
  const { defaultRole, autoconfirm, tellsTaken, passwords, letters, sendLimits, audit } = deps

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

  /** The address is still nobody's: password and metadata become those of this sign-up. */
  async function takeOver(trx: Trx, user: UserRecord, person: NewPerson, now: Date) {
    const { contact, passwordHash, data } = person
    const identityData = identityDataOf(user.id, contact, data)
    await lockUser(trx, user.id)
    await updateUser(trx, user.id, { encrypted_password: passwordHash }, now)
    await replaceUserMetadata(trx, user.id, identityData, now)
    await deleteOtherIdentities(trx, user.id, [contact.provider])
    await putIdentity(
      trx,
      {
        user_id: user.id,
        provider: contact.provider,
        provider_id: user.id,
        identity_data: identityData,
      },
      now,
    )
    await deleteSessions(trx, user.id)
    return reload(trx, user.id)
  }

  /** Without a mail to prove anything, only the password tells whose account it is. */
  async function byEmailAtOnce(trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> {
    const { person, password } = signUp
    const existing = await findUserByAnyEmail(trx, person.contact.address, person.aud)
    const user = existing ?? (await insert(trx, person, now))
    const isOwner =
      user !== undefined &&
      user.email_confirmed_at === null &&
      (!existing || (await passwords.verify(existing.encrypted_password, password)))
    if (!isOwner) return taken(trx, signUp, now)
    await updateUser(trx, user.id, { email_confirmed_at: now }, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    return { state: 'confirmed', user: await reload(trx, user.id) }
  }

  async function byEmailWithMail(trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> {
    const { person, context } = signUp
    const { address } = person.contact
    await sendLimits.claimInterval(trx, 'email', 'confirmation', address, now)
    await sendLimits.claimQuota(trx, 'email', now)
    const user = await register(trx, person, now)
    if (!user) return taken(trx, signUp, now)
    const sent = await letters.sendLink(trx, 'confirmation', user, context, now)
    return { state: 'to be confirmed', user: { ...user, ...sent } }
  }

  async function taken(trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> {
    const { person, ip } = signUp
    const owner = await findUserByAnyEmail(trx, person.contact.address, person.aud)
    if (owner) await audit.record(trx, 'user_repeated_signup', owner, { ip, now })
    return { state: 'taken', told: tellsTaken, decoy: await rehearse(trx, signUp, now) }
  }

  /**
   * Does all that a first sign-up does, under an address that nobody has, and undoes it: the answer of a taken
   * address is then built by the same code, and takes the same time, as that of a new one.
   */
  async function rehearse(trx: Trx, { person, context }: EmailSignUp, now: Date) {
    const { address } = person.contact
    const nobody = { ...person.contact, address: `${crypto.randomUUID()}@rehearsal.invalid` }
    await sql`savepoint rehearsal`.execute(trx)
    const user = await insert(trx, { ...person, contact: nobody }, now)
    if (!user) throw new Error('a random address was taken')
    const sent = await letters.sendLink(trx, 'confirmation', user, context, now)
    await sql`rollback to savepoint rehearsal`.execute(trx)
    const metadata = { ...user.raw_user_meta_data, email: address }
    return { ...user, ...sent, email: address, raw_user_meta_data: metadata, identities: [] }
  }

  /** Registers an address that is new or still unproven; undefined when its owner has proven it. */
  async function register(trx: Trx, person: NewPerson, now: Date): Promise<UserRecord | undefined> {
    const { contact, aud } = person
    const existing = await findUserByAnyEmail(trx, contact.address, aud)
    const user = existing ? undefined : await insert(trx, person, now)
    if (user) return user
    const owner = existing ?? (await findUserByAnyEmail(trx, contact.address, aud))
    if (!owner || owner.email_confirmed_at) return undefined
    return takeOver(trx, owner, person, now)
  }

  return {
    defaultRole,
    insert,
    takeOver,
    register,

    /** Throws over_email_send_rate_limit; everything else is an outcome. */
    byEmail: (trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> =>
      autoconfirm ? byEmailAtOnce(trx, signUp, now) : byEmailWithMail(trx, signUp, now),

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

async function reload(trx: Trx, userId: string): Promise<UserRecord> {
  const user = await findUser(trx, userId)
  if (!user) throw new Error('a user vanished inside a transaction that holds its lock')
  return user
}

async function signUps(fastify: FastifyInstance) {
  const { config, passwords, letters, sendLimits, audit } = fastify
  const decorator = createSignUps({
    defaultRole: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
    tellsTaken: config.AUTH_MAILER_AUTOCONFIRM || config.AUTH_SMS_AUTOCONFIRM,
    passwords,
    letters,
    sendLimits,
    audit,
  })
  fastify.decorate('signUps', decorator)
}

export default fp(signUps, {
  name: 'sign-ups',
  fastify: '5.x',
  dependencies: ['config', 'passwords', 'letters', 'send-limits', 'audit'],
})
