/** The ways a person can sign in: adding one from another provider, taking one away. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { createConfirmationMail } from './external-sign-ins/confirmation-mail.ts'
import { createLinking } from './identities/linking.ts'
import { createUnlinking } from './identities/unlinking.ts'

declare module 'fastify' {
  interface FastifyInstance {
    identities: ReturnType<typeof createIdentities>
  }
}

export interface IdentityDeps {
  aud: string
  /** Addresses are taken as proven. */
  autoconfirm: boolean
  audit: FastifyInstance['audit']
  letters: FastifyInstance['letters']
  confirmationMail: ReturnType<typeof createConfirmationMail>
}

export function createIdentities(deps: IdentityDeps) {
  return { link: createLinking(deps), unlink: createUnlinking(deps) }
}

async function identities(fastify: FastifyInstance) {
  const { config, audit, letters, recipients, sendLimits } = fastify
  const decorator = createIdentities({
    ...{ audit, letters, aud: config.AUTH_JWT_AUD },
    autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
    confirmationMail: createConfirmationMail({ letters, recipients, sendLimits }),
  })
  fastify.decorate('identities', decorator)
}

export default fp(identities, {
  name: 'identities',
  fastify: '5.x',
  dependencies: ['config', 'audit', 'letters', 'recipients', 'send-limits'],
})
