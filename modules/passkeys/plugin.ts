/** The WebAuthn ceremonies of the configured relying party. */
import { defineModule } from '../../plugins/define-plugin.ts'
import { createCeremonies } from './webauthn/ceremonies.ts'
import { getRelyingParty } from './webauthn/relying-party.ts'

declare module 'fastify' {
  interface FastifyInstance {
    passkeys: { ceremonies: ReturnType<typeof createCeremonies> }
  }
}

export default defineModule('passkeys', ({ config }) => ({
  ceremonies: createCeremonies(getRelyingParty(config)),
}))
