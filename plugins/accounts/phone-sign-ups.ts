/** Signing up by phone: a new number, one that nobody has proven yet, or one that is taken. */
import { randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { sql } from 'kysely'

import type { Db, Trx } from '../../db/database.ts'
import { mergeMetadata } from '../../db/user-edits.ts'
import { findUserByPhone, type UserRecord, updateUser } from '../../db/users.ts'
import type { Channel, Errand, SentCode } from './phones.ts'
import { isUnproven, type NewPerson, reload } from './sign-ups/registration.ts'
import type { SignUpOutcome } from './sign-ups.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phoneSignUps: ReturnType<typeof createPhoneSignUps>
  }
}

export interface PhoneSignUp {
  person: NewPerson
  /** In clear, for comparing with an account that was never confirmed. */
  password: string
  channel: Channel
  ip: string
}

interface PhoneSignUpDeps {
  /** Numbers are taken as proven. */
  autoconfirm: boolean
  /** With any kind of autoconfirmation, a client can tell a taken number anyway. */
  tellsTaken: boolean
  signUps: Pick<FastifyInstance['signUps'], 'asNew' | 'insert' | 'register'>
  phones: FastifyInstance['phones']
  passwords: FastifyInstance['passwords']
  audit: FastifyInstance['audit']
}

export function createPhoneSignUps(deps: PhoneSignUpDeps) {
  const { autoconfirm, tellsTaken, signUps, phones, passwords, audit } = deps

  async function taken(trx: Trx, { person, ip }: PhoneSignUp, now: Date): Promise<SignUpOutcome> {
    const owner = await findUserByPhone(trx, person.contact.address, person.aud)
    if (owner) await audit.record(trx, 'user_repeated_signup', owner, { ip, now })
    if (tellsTaken) return { state: 'taken', told: true }
    return { state: 'taken', told: false, decoy: await rehearse(trx, person, now) }
  }

  /** Does all that a first sign-up does, under a number that nobody can have, and undoes it: see sign-ups.ts. */
  async function rehearse(trx: Trx, person: NewPerson, now: Date): Promise<UserRecord> {
    const phone = person.contact.address
    const nobody = `0${randomInt(10 ** 14)}`
    await sql`savepoint rehearsal`.execute(trx)
    const contact = { ...person.contact, address: nobody }
    const user = await signUps.insert(trx, { ...person, contact }, now)
    if (!user) throw new Error('a random number was taken')
    const message = { phone: nobody, code: String(randomInt(10 ** 6)), messageId: user.id }
    const sent = await phones.store(trx, user.id, { purpose: 'confirmation', ...message }, now)
    await sql`rollback to savepoint rehearsal`.execute(trx)
    return { ...user, ...sent, phone, identities: [] }
  }

  /** Takes the number as proven. */
  async function confirm(trx: Trx, user: UserRecord, now: Date): Promise<UserRecord> {
    await updateUser(trx, user.id, { phone_confirmed_at: now }, now)
    await mergeMetadata(trx, user.id, { user: { phone_verified: true } }, now)
    return reload(trx, user.id)
  }

  return {
    autoconfirm,
    confirm,

    /** Without a message to prove anything, only the password tells whose account it is. */
    async atOnce(trx: Trx, signUp: PhoneSignUp, now: Date): Promise<SignUpOutcome> {
      const { person, password, ip } = signUp
      const existing = await findUserByPhone(trx, person.contact.address, person.aud)
      const user = existing ?? (await signUps.insert(trx, person, now))
      const isOwner =
        user !== undefined &&
        isUnproven(user, person.contact) &&
        (!existing || (await passwords.verify(existing.encrypted_password, password)))
      if (!isOwner) return taken(trx, signUp, now)
      await audit.record(trx, 'user_signedup', user, { ip, now, traits: { provider: 'phone' } })
      return { state: 'confirmed', user: await confirm(trx, user, now) }
    },

    /**
     * Sends the code; to a taken number nothing, in the same time. Throws over_sms_send_rate_limit,
     * sms_send_failed or unexpected_failure.
     */
    async ask(db: Db, { person, channel }: PhoneSignUp, now: Date): Promise<SentCode | undefined> {
      const { contact, aud } = person
      const errand: Errand = { purpose: 'confirmation', phone: contact.address, channel }
      const owner = await findUserByPhone(db, contact.address, aud)
      if (!owner || isUnproven(owner, contact)) return phones.send(db, errand, now)
      await phones.rehearse(db, errand, now)
      return undefined
    },

    /** Registers whoever the code was sent to; `sent` is what `ask` returned. */
    async register(
      trx: Trx,
      signUp: PhoneSignUp,
      sent: SentCode | undefined,
      now: Date,
    ): Promise<SignUpOutcome> {
      const user = sent && (await signUps.register(trx, signUp.person, now))
      if (!user) return taken(trx, signUp, now)
      await phones.store(trx, user.id, sent, now)
      await audit.record(trx, 'user_confirmation_requested', user, { ip: signUp.ip, now })
      return { state: 'to be confirmed', user: signUps.asNew(user, signUp.person.contact, now) }
    },
  }
}

async function phoneSignUps(fastify: FastifyInstance) {
  const { config, signUps, phones, passwords, audit } = fastify
  const decorator = createPhoneSignUps({
    autoconfirm: config.AUTH_SMS_AUTOCONFIRM,
    tellsTaken: config.AUTH_MAILER_AUTOCONFIRM || config.AUTH_SMS_AUTOCONFIRM,
    signUps,
    phones,
    passwords,
    audit,
  })
  fastify.decorate('phoneSignUps', decorator)
}

export default fp(phoneSignUps, {
  name: 'phone-sign-ups',
  fastify: '5.x',
  dependencies: ['config', 'sign-ups', 'phones', 'passwords', 'audit'],
})
