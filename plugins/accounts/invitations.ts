/** Inviting people by mail: an account without a password, which whoever opens the link may claim. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { findUserByAnyEmail, type UserRecord } from '../../db/users.ts'
import { emailExists } from '../../errors.ts'
import type { LinkContext } from './links.ts'
import type { NewPerson } from './sign-ups/registration.ts'

declare module 'fastify' {
  interface FastifyInstance {
    invitations: ReturnType<typeof createInvitations>
  }
}

interface InvitationDeps {
  letters: FastifyInstance['letters']
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
  signUps: FastifyInstance['signUps']
}

export function createInvitations({ letters, recipients, sendLimits, signUps }: InvitationDeps) {
  /**
   * The account that the invitation is to. Somebody else may have signed up with the address meanwhile: what they
   * set must not wait inside for the person who is invited. Throws email_exists for a proven account.
   */
  async function prepare(trx: Trx, person: NewPerson, now: Date): Promise<UserRecord> {
    const { contact, aud } = person
    const existing = await findUserByAnyEmail(trx, contact.address, aud)
    const isWaiting =
      existing?.invited_at && !existing.email_confirmed_at && !existing.encrypted_password
    const invited = isWaiting ? existing : await signUps.register(trx, person, now)
    if (!invited) throw emailExists()
    return invited
  }

  return {
    prepare,

    /** Throws email_exists, over_email_send_rate_limit or email_provider_not_configured. */
    async send(trx: Trx, person: NewPerson, context: LinkContext, now: Date): Promise<UserRecord> {
      recipients.check(person.contact.address)
      const invited = await prepare(trx, person, now)
      const sent = await letters.sendLink(trx, 'invite', invited, context, now)
      await sendLimits.claimQuota(trx, 'email', now)
      return { ...invited, ...sent }
    },
  }
}

async function invitations(fastify: FastifyInstance) {
  const { letters, recipients, sendLimits, signUps } = fastify
  const decorator = createInvitations({ letters, recipients, sendLimits, signUps })
  fastify.decorate('invitations', decorator)
}

export default fp(invitations, {
  name: 'invitations',
  fastify: '5.x',
  dependencies: ['letters', 'recipients', 'send-limits', 'sign-ups'],
})
