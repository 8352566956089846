/**
 * Codes by text message. Limits first, then the provider, then our tables: a slow provider holds no database
 * connection, and where it refuses nothing has changed and the person may ask again at once.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import type { TokenType } from '../../db/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../db/users.ts'
import { unexpectedFailure } from '../../errors.ts'
import { createPace } from './phones/pace.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phones: ReturnType<typeof createPhones>
  }
}

export type PhonePurpose = 'confirmation' | 'phone_change' | 'reauthentication'
export type Channel = ReturnType<FastifyInstance['sms']['channelOf']>

/** A code that is wanted. */
export interface Errand {
  purpose: PhonePurpose
  /** E.164 digits without the plus sign. */
  phone: string
  channel: Channel
  /** Who asks, when that is not the number itself: they wait as long as it does. */
  askedBy?: string
}

/** A code on its way. */
export interface SentCode {
  purpose: PhonePurpose
  phone: string
  code: string
  /** A UUID of ours; the log ties it to the provider's. */
  messageId: string
}

const phoneTokenTypes: Record<PhonePurpose, TokenType> = {
  confirmation: 'confirmation_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
}

interface PhoneDeps {
  sms: Pick<FastifyInstance['sms'], 'enabled' | 'send' | 'testOtp'>
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  sendLimits: FastifyInstance['sendLimits']
  digits: number
  ttlSeconds: number
}

export function createPhones({ sms, oneTimeTokens, sendLimits, digits, ttlSeconds }: PhoneDeps) {
  const pace = createPace()
  const hasFixedCode = (phone: string, now: Date) => sms.testOtp(phone, now) !== undefined

  /** The wait and the quota. Throws over_sms_send_rate_limit, or unexpected_failure without a provider. */
  async function claim(trx: Trx, errand: Errand, now: Date): Promise<void> {
    const { purpose, phone, askedBy } = errand
    const isFixed = hasFixedCode(phone, now)
    if (!sms.enabled && !isFixed) throw unexpectedFailure('Unable to get SMS provider')
    if (askedBy) await sendLimits.claimInterval(trx, 'sms', purpose, askedBy, now)
    await sendLimits.claimInterval(trx, 'sms', purpose, phone, now)
    // Last, because everybody who sends waits for this row until the transaction ends.
    if (!isFixed) await sendLimits.claimQuota(trx, 'sms', now)
  }

  async function release(db: Db, { purpose, phone, askedBy }: Errand): Promise<void> {
    await sendLimits.release(db, 'sms', purpose, phone)
    if (askedBy) await sendLimits.release(db, 'sms', purpose, askedBy)
  }

  /** Makes a code and hands it to the provider; the wait is claimed. Throws sms_send_failed. */
  async function deliver(db: Db, errand: Errand, messageId: string, now: Date): Promise<SentCode> {
    const { purpose, phone, channel } = errand
    const sent = { purpose, phone, code: oneTimeTokens.newCode(digits), messageId }
    if (hasFixedCode(phone, now)) return sent
    try {
      await pace.set(() => sms.send({ phone, code: sent.code, channel, messageId }))
    } catch (error) {
      await release(db, errand)
      throw error
    }
    return sent
  }

  const claimNow = (db: Db, errand: Errand, now: Date) =>
    db.transaction().execute((trx) => claim(trx, errand, now))

  return {
    ttlSeconds,
    claim,
    deliver,

    /** Claims and delivers. Throws over_sms_send_rate_limit, sms_send_failed or unexpected_failure. */
    async send(db: Db, errand: Errand, now: Date): Promise<SentCode> {
      await claimNow(db, errand, now)
      return deliver(db, errand, crypto.randomUUID(), now)
    },

    /** Waits and takes as long as `send`, for a number that gets nothing. */
    async rehearse(db: Db, errand: Errand, now: Date): Promise<void> {
      await claimNow(db, errand, now)
      if (!hasFixedCode(errand.phone, now)) await pace.keep()
    },

    /** From now on the code counts, and the one before it no more. Returns the columns it changed. */
    async store(trx: Trx, userId: string, sent: SentCode, now: Date): Promise<UserChange> {
      const { purpose, phone, code } = sent
      const change = {
        [`${purpose}_sent_at`]: now,
        ...(purpose === 'phone_change' && { phone_change: phone }),
      }
      // The person's row before the token's, as everywhere: see lockTokenOwners.
      await updateUser(trx, userId, change, now)
      const type = phoneTokenTypes[purpose]
      const token = { userId, type, address: phone, digits, ttlSeconds, pkce: false, code }
      await oneTimeTokens.create(trx, token, now)
      return change
    },
  }
}

/** A provider that makes the codes lets them live this long, whatever we are told of ours. */
const providersCodeSeconds = 600

async function phones(fastify: FastifyInstance) {
  const { config, sms, oneTimeTokens, sendLimits } = fastify
  const ownSeconds = config.AUTH_SMS_OTP_EXP
  const decorator = createPhones({
    sms,
    oneTimeTokens,
    sendLimits,
    digits: config.AUTH_SMS_OTP_LENGTH,
    ttlSeconds: sms.verify ? Math.max(ownSeconds, providersCodeSeconds) : ownSeconds,
  })
  fastify.decorate('phones', decorator)
}

export default fp(phones, {
  name: 'phones',
  fastify: '5.x',
  dependencies: ['config', 'sms', 'one-time-tokens', 'send-limits'],
})
