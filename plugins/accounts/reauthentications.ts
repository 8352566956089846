/** A signed-in person shows once more who they are, by a code sent to their address. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import type { UserRecord } from '../../db/users.ts'
import type { Judgement } from './phone-proofs.ts'
import type { SentCode } from './phones.ts'

declare module 'fastify' {
  interface FastifyInstance {
    reauthentications: ReturnType<typeof createReauthentications>
  }
}

interface ReauthenticationDeps {
  audit: FastifyInstance['audit']
  letters: FastifyInstance['letters']
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  phoneProofs: FastifyInstance['phoneProofs']
  phones: FastifyInstance['phones']
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
}

export function createReauthentications(deps: ReauthenticationDeps) {
  const { audit, letters, oneTimeTokens, phoneProofs, phones, recipients, sendLimits } = deps
  const type = 'reauthentication_token' as const

  return {
    /** Mails the code; returns the message's id. Throws over_email_send_rate_limit. */
    async sendByEmail(trx: Trx, user: UserRecord, ip: string, now: Date): Promise<string> {
      const address = user.email ?? ''
      recipients.check(address)
      const messageId = crypto.randomUUID()
      await sendLimits.claimInterval(trx, 'email', 'reauthentication', address, now)
      await letters.sendReauthentication(trx, user, messageId, now)
      await audit.record(trx, 'user_reauthenticate_requested', user, { ip, now })
      await sendLimits.claimQuota(trx, 'email', now)
      return messageId
    },

    /** A code that was texted counts from now on. */
    async acceptSent(trx: Trx, user: UserRecord, sent: SentCode, ip: string, now: Date) {
      await phones.store(trx, user.id, sent, now)
      await audit.record(trx, 'user_reauthenticate_requested', user, { ip, now })
    },

    /** Who knows whether a code is right; asked outside of a transaction. */
    judge(db: Db, user: UserRecord, nonce: string, now: Date): Promise<Judgement> {
      if (user.email || !user.phone) return Promise.resolve({ by: 'us' })
      return phoneProofs.judge(db, { type, phone: user.phone, code: nonce }, now)
    },

    /** Spends the code. False for a wrong, late or used one: the guess is counted, so commit before refusing. */
    async accepts(
      trx: Trx,
      user: UserRecord,
      nonce: string,
      judgement: Judgement,
      now: Date,
    ): Promise<boolean> {
      const { email, phone } = user
      if (!email && !phone) return false
      const token = email
        ? await oneTimeTokens.takeCode(trx, [type], email, nonce, now)
        : await phoneProofs.take(trx, { type, phone: phone ?? '', code: nonce }, judgement, now)
      return token?.user_id === user.id
    },
  }
}

async function reauthentications(fastify: FastifyInstance) {
  const { audit, letters, oneTimeTokens, phoneProofs, phones, recipients, sendLimits } = fastify
  const decorator = createReauthentications({
    audit,
    letters,
    oneTimeTokens,
    phoneProofs,
    phones,
    recipients,
    sendLimits,
  })
  fastify.decorate('reauthentications', decorator)
}

export default fp(reauthentications, {
  name: 'reauthentications',
  fastify: '5.x',
  dependencies: [
    'audit',
    'letters',
    'one-time-tokens',
    'phone-proofs',
    'phones',
    'recipients',
    'send-limits',
  ],
})
