/**
 * Codes by text message. A message is prepared inside the transaction of what it belongs to and handed to the provider
 * after the commit: a slow provider then holds no database connection, and a failed one gives the wait back.
 */
import { timingSafeEqual } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { deleteTokens, type TokenType } from '../../db/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../db/users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phones: ReturnType<typeof createPhones>
  }
}

export type PhonePurpose = 'confirmation' | 'phone_change' | 'reauthentication'
type Channel = ReturnType<FastifyInstance['sms']['channelOf']>

export interface TextMessage {
  userId: string
  purpose: PhonePurpose
  /** E.164 digits without the plus sign. */
  phone: string
  code: string
  channel: Channel
  /** A UUID of ours; the log ties it to the provider's. */
  messageId: string
  /** The number has a fixed code (AUTH_SMS_TEST_OTP): nothing is sent. */
  isTest: boolean
}

const tokenTypes: Record<PhonePurpose, TokenType> = {
  confirmation: 'confirmation_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
}

interface PhoneDeps {
  sms: FastifyInstance['sms']
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  sendLimits: FastifyInstance['sendLimits']
  digits: number
  ttlSeconds: number
}

export function createPhones({ sms, oneTimeTokens, sendLimits, digits, ttlSeconds }: PhoneDeps) {
  /** The wait and the quota. Throws over_sms_send_rate_limit. */
  async function claim(db: Db, purpose: PhonePurpose, phone: string, now: Date): Promise<void> {
    await sendLimits.claimInterval(db, 'sms', purpose, phone, now)
    if (sms.testOtp(phone, now) === undefined) await sendLimits.claimQuota(db, 'sms', now)
  }

  /** Makes the code and notes that it is on its way; the caller has claimed. Returns the columns it changed. */
  async function prepare(
    trx: Trx,
    userId: string,
    purpose: PhonePurpose,
    to: { phone: string; channel: Channel },
    now: Date,
  ): Promise<{ message: TextMessage; change: UserChange }> {
    const type = tokenTypes[purpose]
    const token = { userId, type, address: to.phone, digits, ttlSeconds, pkce: false }
    const { code } = await oneTimeTokens.create(trx, token, now)
    const change = {
      [`${purpose}_sent_at`]: now,
      ...(purpose === 'phone_change' && { phone_change: to.phone }),
    }
    await updateUser(trx, userId, change, now)
    const isTest = sms.testOtp(to.phone, now) !== undefined
    const message = { ...to, userId, purpose, code, messageId: crypto.randomUUID(), isTest }
    return { message, change }
  }

  return {
    claim,
    prepare,

    /** Hands the message to the provider. Throws sms_send_failed; the person may then ask again at once. */
    async deliver(db: Db, message: TextMessage): Promise<void> {
      const { userId, purpose, phone, isTest, code, channel, messageId } = message
      if (isTest) return
      try {
        await sms.send({ phone, code, channel, messageId })
      } catch (error) {
        await deleteTokens(db, userId, [tokenTypes[purpose]])
        await sendLimits.release(db, 'sms', purpose, phone)
        throw error
      }
    },

    /**
     * True when the number's fixed code or the provider itself says that this code is right;
     * undefined when it is for our own tokens to say.
     */
    async checkElsewhere(phone: string, code: string, now: Date): Promise<boolean | undefined> {
      const fixed = sms.testOtp(phone, now)
      if (fixed !== undefined && equal(fixed, code)) return true
      return sms.verify?.(phone, code)
    },
  }
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function phones(fastify: FastifyInstance) {
  const { config, sms, oneTimeTokens, sendLimits } = fastify
  const decorator = createPhones({
    sms,
    oneTimeTokens,
    sendLimits,
    digits: config.AUTH_SMS_OTP_LENGTH,
    ttlSeconds: config.AUTH_SMS_OTP_EXP,
  })
  fastify.decorate('phones', decorator)
}

export default fp(phones, {
  name: 'phones',
  fastify: '5.x',
  dependencies: ['config', 'sms', 'one-time-tokens', 'send-limits'],
})
