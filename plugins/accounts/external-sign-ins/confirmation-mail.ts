/** The mail that asks for the proof a provider did not give. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { LinkContext } from '../links.ts'

interface ConfirmationMailDeps {
  letters: Pick<FastifyInstance['letters'], 'sendLink'>
  recipients: Pick<FastifyInstance['recipients'], 'check'>
  sendLimits: FastifyInstance['sendLimits']
}

export function createConfirmationMail({ letters, recipients, sendLimits }: ConfirmationMailDeps) {
  /** Throws over_email_send_rate_limit, email_address_not_authorized, email_provider_not_configured. */
  async function claim(trx: Trx, address: string, now: Date): Promise<void> {
    recipients.check(address)
    await sendLimits.claimInterval(trx, 'email', 'confirmation', address, now)
    await sendLimits.claimQuota(trx, 'email', now)
  }

  return {
    claim,

    /** Throws as `claim`. The link ends in a session: whoever opens it need not be the client that waits. */
    async send(trx: Trx, user: UserRecord, links: LinkContext, now: Date): Promise<void> {
      await claim(trx, user.email ?? '', now)
      await letters.sendLink(trx, 'confirmation', user, { ...links, pkce: undefined }, now)
    },
  }
}
