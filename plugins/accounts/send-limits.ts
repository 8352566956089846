/**
 * How often something may be sent to one address, and how much in an hour.
 * The address need not belong to anybody: unknown ones wait just as long, so that waiting tells nothing.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../../db/database.ts'
import { deleteSendInterval, takeSendInterval, takeSendQuota } from '../../db/send-limits.ts'
import { sendQuotaExceeded, sentTooRecently } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sendLimits: ReturnType<typeof createSendLimits>
  }
}

/** What shares one interval per address; recovery and magic links count together. */
export type SendPurpose =
  | 'confirmation'
  | 'recovery'
  | 'email_change'
  /** A new address that somebody wants; theirs or not, it hears of it no more often than that. */
  | 'email_change_target'
  | 'reauthentication'
  | 'phone_change'

interface Rate {
  count: number
  seconds: number
}

export interface ChannelLimits {
  intervalSeconds: (purpose: SendPurpose) => number
  /** Undefined where addresses are confirmed without a message. */
  quota: Rate | undefined
}

export function createSendLimits(key: Buffer, channels: Record<'email' | 'sms', ChannelLimits>) {
  const keyOf = (channel: string, purpose: SendPurpose, address: string) =>
    createHmac('sha256', key).update(`${channel}\n${purpose}\n${address}`).digest('base64url')

  return {
    /** Throws over_email_send_rate_limit or over_sms_send_rate_limit when this address must wait. */
    async claimInterval(
      db: Db,
      channel: 'email' | 'sms',
      purpose: SendPurpose,
      address: string,
      now: Date,
    ): Promise<void> {
      const interval = channels[channel].intervalSeconds(purpose)
      if (interval === 0) return
      const wait = await takeSendInterval(db, keyOf(channel, purpose, address), interval, now)
      if (wait > 0) throw sentTooRecently(channel, wait)
    },

    /** Gives the wait back when nothing was sent after all. */
    release: (db: Db, channel: 'email' | 'sms', purpose: SendPurpose, address: string) =>
      deleteSendInterval(db, keyOf(channel, purpose, address)),

    /** Throws the same codes when everybody together has sent enough. */
    async claimQuota(db: Db, channel: 'email' | 'sms', now: Date): Promise<void> {
      const { quota } = channels[channel]
      if (!quota) return
      if (quota.count === 0) throw sendQuotaExceeded(channel, quota.seconds)
      const wait = await takeSendQuota(db, channel, quota.count, quota.seconds, now)
      if (wait > 0) throw sendQuotaExceeded(channel, wait)
    },
  }
}

async function sendLimits(fastify: FastifyInstance) {
  const { config, encryption } = fastify
  const mailInterval = config.AUTH_SMTP_MAX_FREQUENCY
  const decorator = createSendLimits(encryption.deriveKey('send limits'), {
    email: {
      intervalSeconds: (purpose) => mailInterval ?? (purpose === 'confirmation' ? 900 : 60),
      quota: config.AUTH_MAILER_AUTOCONFIRM ? undefined : config.AUTH_RATE_LIMIT_EMAIL_SENT,
    },
    sms: {
      intervalSeconds: () => config.AUTH_SMS_MAX_FREQUENCY,
      quota: config.AUTH_SMS_AUTOCONFIRM ? undefined : config.AUTH_RATE_LIMIT_SMS_SENT,
    },
  })
  fastify.decorate('sendLimits', decorator)
}

export default fp(sendLimits, {
  name: 'send-limits',
  fastify: '5.x',
  dependencies: ['config', 'encryption'],
})
