/**
 * Signing up: a new person, a repeated sign-up of an address nobody has proven yet, or one that is taken.
 * What was set before an address was proven never survives a new proof that did not come with it.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sql } from 'kysely'

import type { Trx } from '../../db/database.ts'
import { mergeMetadata } from '../../db/user-edits.ts'
import { findUserByAnyEmail, type UserRecord, updateUser } from '../../db/users.ts'
import type { LinkContext } from './links.ts'
import {
  type Contact,
  createRegistration,
  isUnproven,
  type NewPerson,
  reload,
} from './sign-ups/registration.ts'

declare module 'fastify' {
  interface FastifyInstance {
    signUps: ReturnType<typeof createSignUps>
  }
}

export type SignUpOutcome =
  | { state: 'confirmed'; user: UserRecord }
  | { state: 'to be confirmed'; user: UserRecord }
  /** The address has an owner. Only where every sign-up is confirmed at once may the client be told. */
  | { state: 'taken'; told: true }
  | { state: 'taken'; told: false; decoy: UserRecord }

interface SignUpDeps {
  defaultRole: string
  /** Email addresses are taken as proven. */
  autoconfirm: boolean
  /** With any kind of autoconfirmation, a client can tell a taken address anyway. */
  tellsTaken: boolean
  passwords: FastifyInstance['passwords']
  letters: FastifyInstance['letters']
  recipients: FastifyInstance['recipients']
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
  const { autoconfirm, tellsTaken, passwords, letters, recipients, sendLimits, audit } = deps
  const registration = createRegistration(deps.defaultRole)

  /** Without a mail to prove anything, only the password tells whose account it is. */
  async function byEmailAtOnce(trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> {
    const { person, password, ip } = signUp
    const existing = await findUserByAnyEmail(trx, person.contact.address, person.aud)
    const user = existing ?? (await registration.insert(trx, person, now))
    const isOwner =
      user !== undefined &&
      isUnproven(user, person.contact) &&
      (!existing || (await passwords.verify(existing.encrypted_password, password)))
    if (!isOwner) return taken(trx, signUp, existing, now)
    await audit.record(trx, 'user_signedup', user, { ip, now, traits: { provider: 'email' } })
    return { state: 'confirmed', user: await confirm(trx, user, now) }
  }

  async function byEmailWithMail(trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> {
    const { person, context, ip } = signUp
    const { address } = person.contact
    recipients.check(address)
    await sendLimits.claimInterval(trx, 'email', 'confirmation', address, now)
    const owner = await findUserByAnyEmail(trx, address, person.aud)
    // New or taken, the same statements run: only whether they are kept differs.
    await sql`savepoint sign_up`.execute(trx)
    const user = await registration.register(trx, person, now)
    const outcome = user
      ? await toBeConfirmed(trx, { user, contact: person.contact }, context, ip, now)
      : await taken(trx, signUp, owner, now)
    if (user) await sql`release savepoint sign_up`.execute(trx)
    // Last, because everybody who sends waits for this row until the transaction ends.
    await sendLimits.claimQuota(trx, 'email', now)
    return outcome
  }

  async function toBeConfirmed(
    trx: Trx,
    { user, contact }: { user: UserRecord; contact: Contact },
    context: LinkContext,
    ip: string,
    now: Date,
  ): Promise<SignUpOutcome> {
    await letters.sendLink(trx, 'confirmation', user, context, now)
    await audit.record(trx, 'user_confirmation_requested', user, { ip, now })
    return { state: 'to be confirmed', user: registration.asNew(user, contact, now) }
  }

  async function taken(
    trx: Trx,
    signUp: EmailSignUp,
    owner: UserRecord | undefined,
    now: Date,
  ): Promise<SignUpOutcome> {
    const decoy = tellsTaken ? undefined : await rehearse(trx, signUp, now)
    if (owner) await audit.record(trx, 'user_repeated_signup', owner, { ip: signUp.ip, now })
    return decoy ? { state: 'taken', told: false, decoy } : { state: 'taken', told: true }
  }

  /**
   * Does all that a first sign-up does, under an address that nobody has, and undoes it: the answer of a taken
   * address is then built by the same code, and takes the same time, as that of a new one.
   */
  async function rehearse(trx: Trx, { person, context }: EmailSignUp, now: Date) {
    const { address } = person.contact
    const nobody = { ...person.contact, address: `${crypto.randomUUID()}@rehearsal.invalid` }
    const user = await registration.insert(trx, { ...person, contact: nobody }, now)
    if (!user) throw new Error('a random address was taken')
    const sent = await letters.sendLink(trx, 'confirmation', user, context, now)
    await sql`rollback to savepoint sign_up`.execute(trx)
    const metadata = { ...user.raw_user_meta_data, email: address }
    return { ...user, ...sent, email: address, raw_user_meta_data: metadata, identities: [] }
  }

  /** Takes the address as proven. */
  async function confirm(trx: Trx, user: UserRecord, now: Date): Promise<UserRecord> {
    await updateUser(trx, user.id, { email_confirmed_at: now }, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    return reload(trx, user.id)
  }

  return {
    ...registration,
    autoconfirm,
    confirm,

    /** Throws over_email_send_rate_limit; everything else is an outcome. */
    byEmail: (trx: Trx, signUp: EmailSignUp, now: Date): Promise<SignUpOutcome> =>
      autoconfirm ? byEmailAtOnce(trx, signUp, now) : byEmailWithMail(trx, signUp, now),
  }
}

async function signUps(fastify: FastifyInstance) {
  const { config, passwords, letters, recipients, sendLimits, audit } = fastify
  const decorator = createSignUps({
    defaultRole: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
    tellsTaken: config.AUTH_MAILER_AUTOCONFIRM || config.AUTH_SMS_AUTOCONFIRM,
    passwords,
    letters,
    recipients,
    sendLimits,
    audit,
  })
  fastify.decorate('signUps', decorator)
}

export default fp(signUps, {
  name: 'sign-ups',
  fastify: '5.x',
  dependencies: ['config', 'passwords', 'letters', 'recipients', 'send-limits', 'audit'],
})
