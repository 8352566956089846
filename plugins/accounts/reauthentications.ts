/** A signed-in person shows once more who they are, by a code sent to their address. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import type { UserRecord } from '../../db/users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    reauthentications: ReturnType<typeof createReauthentications>
  }
}

interface ReauthenticationDeps {
  audit: FastifyInstance['audit']
  letters: FastifyInstance['letters']
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
}

export function createReauthentications(deps: ReauthenticationDeps) {
  const { audit, letters, oneTimeTokens, recipients, sendLimits } = deps

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

    /** Spends the code. False for a wrong, late or used one: the guess is counted, so commit before refusing. */
    async accepts(trx: Trx, user: UserRecord, nonce: string, now: Date): Promise<boolean> {
      const address = user.email || user.phone
      if (!address) return false
      const types = ['reauthentication_token'] as const
      const token = await oneTimeTokens.takeCode(trx, types, address, nonce, now)
      return token?.user_id === user.id
    },
  }
}

async function reauthentications(fastify: FastifyInstance) {
  const { audit, letters, oneTimeTokens, recipients, sendLimits } = fastify
  const decorator = createReauthentications({
    audit,
    letters,
    oneTimeTokens,
    recipients,
    sendLimits,
  })
  fastify.decorate('reauthentications', decorator)
}

export default fp(reauthentications, {
  name: 'reauthentications',
  fastify: '5.x',
  dependencies: ['audit', 'letters', 'one-time-tokens', 'recipients', 'send-limits'],
})
