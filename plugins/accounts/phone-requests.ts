/**
 * What anybody may ask to be texted to a number: a code to sign in with, or a code once more.
 * A code to sign in with goes to every number, so it is sent at once. A repeated one goes to some numbers only: the
 * request is noted, the same for all, and a worker finds out who has the number.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { findUserByPhone, type Metadata } from '../../db/users.ts'
import {
  createRepeatWorker,
  type RepeatRequest,
  repeatTask,
  sealRepeat,
} from './phone-requests/repeat.ts'
import type { Channel, Errand, SentCode } from './phones.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phoneRequests: ReturnType<typeof createPhoneRequests>
  }
}

export interface SignInRequest {
  /** E.164 digits without the plus sign. */
  phone: string
  channel: Channel
  aud: string
  /** For a person who is signed up by this. */
  data: Metadata
  ip: string
}

interface PhoneRequestDeps {
  /** AUTH_DISABLE_SIGNUP */
  signUpsClosed: boolean
  encryption: FastifyInstance['encryption']
  jobQueue: Pick<FastifyInstance['jobQueue'], 'enqueue'>
  phones: FastifyInstance['phones']
  phoneSignUps: FastifyInstance['phoneSignUps']
  signUps: FastifyInstance['signUps']
  audit: FastifyInstance['audit']
}

export function createPhoneRequests(deps: PhoneRequestDeps) {
  const { signUpsClosed, encryption, jobQueue, phones, phoneSignUps, signUps, audit } = deps

  /** Nobody has proven this number: whoever asks is signed up without a password. */
  async function signUp(trx: Trx, { phone, aud, data }: SignInRequest, now: Date) {
    const contact = { provider: 'phone' as const, address: phone }
    const person = await signUps.register(trx, { contact, aud, passwordHash: null, data }, now)
    return person && phoneSignUps.autoconfirm ? phoneSignUps.confirm(trx, person, now) : person
  }

  return {
    /**
     * Sends a code to sign in with; nothing, in the same time, to a number that may not sign up. Throws
     * over_sms_send_rate_limit, sms_send_failed or unexpected_failure.
     */
    async ask(db: Db, request: SignInRequest, now: Date): Promise<SentCode | undefined> {
      const { phone, channel, aud } = request
      const errand: Errand = { purpose: 'confirmation', phone, channel }
      const isWelcome = !signUpsClosed || (await findUserByPhone(db, phone, aud)) !== undefined
      if (isWelcome) return phones.send(db, errand, now)
      await phones.rehearse(db, errand, now)
      return undefined
    },

    /** The code counts for whoever has the number, or for the new person who has it from now on. */
    async accept(trx: Trx, request: SignInRequest, sent: SentCode, now: Date): Promise<void> {
      const { phone, aud, ip } = request
      const signedUp = await signUp(trx, request, now)
      const person = signedUp ?? (await findUserByPhone(trx, phone, aud))
      if (!person) return
      await phones.store(trx, person.id, sent, now)
      const action = signedUp ? 'user_confirmation_requested' : 'user_recovery_requested'
      await audit.record(trx, action, person, { ip, now })
    },

    /** Notes that a code is wanted once more; returns the id of the message that may come of it. Throws like `ask`. */
    async repeat(trx: Trx, request: RepeatRequest, now: Date): Promise<string> {
      const { purpose, phone } = request
      const id = crypto.randomUUID()
      await jobQueue.enqueue(trx, repeatTask, sealRepeat(encryption, id, request, now), {
        // A second attempt could send a second message.
        maxAttempts: 1,
      })
      await phones.claim(trx, { purpose, phone, channel: 'sms' }, now)
      return id
    },
  }
}

async function phoneRequests(fastify: FastifyInstance) {
  const { config, db, encryption, jobQueue, log } = fastify
  const { phones, phoneSignUps, sendLimits, signUps, audit } = fastify
  const worker = createRepeatWorker({ db, encryption, phones, sendLimits, audit, log })
  jobQueue.addTask(repeatTask, worker)
  const decorator = createPhoneRequests({
    signUpsClosed: config.AUTH_DISABLE_SIGNUP,
    encryption,
    jobQueue,
    phones,
    phoneSignUps,
    signUps,
    audit,
  })
  fastify.decorate('phoneRequests', decorator)
}

export default fp(phoneRequests, {
  name: 'phone-requests',
  fastify: '5.x',
  dependencies: [
    'config',
    'db',
    'encryption',
    'job-queue',
    'phones',
    'phone-sign-ups',
    'send-limits',
    'sign-ups',
    'audit',
  ],
})
