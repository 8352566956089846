/** To which addresses this server may write at all; the answer depends on its settings, never on who exists. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { emailAddressNotAuthorized, mailNotConfigured } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    recipients: ReturnType<typeof createRecipients>
  }
}

export interface RecipientRules {
  /** Whether there is a mail server. */
  configured: boolean
  /** Empty: everybody. */
  authorized: readonly string[]
}

export function createRecipients({ configured, authorized }: RecipientRules) {
  const known = new Set(authorized.map(withoutLabel))
  const isAuthorized = (address: string) => known.size === 0 || known.has(withoutLabel(address))

  return {
    /** Throws email_provider_not_configured or email_address_not_authorized. */
    check(address: string): void {
      if (!configured) throw mailNotConfigured()
      if (!isAuthorized(address)) throw emailAddressNotAuthorized()
    },

    mayReceive: (address: string): boolean => configured && isAuthorized(address),
  }
}

/** `ann+news@example.com` is Ann's mailbox. */
function withoutLabel(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*(?=@)/, '')
}

async function recipients(fastify: FastifyInstance) {
  const { configured } = fastify.mailer
  const authorized = fastify.config.AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES
  fastify.decorate('recipients', createRecipients({ configured, authorized }))
}

export default fp(recipients, {
  name: 'recipients',
  fastify: '5.x',
  dependencies: ['config', 'mailer'],
})
