/** The dependencies of this module, and the ceremonies of the configured relying party. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { createCeremonies } from './webauthn/ceremonies.ts'
import { getRelyingParty } from './webauthn/relying-party.ts'

declare module 'fastify' {
  interface FastifyInstance {
    passkeys: ReturnType<typeof createPasskeys>
  }
}

const deps = [
  'audit',
  'bearerAuth',
  'config',
  'credentials',
  'emails',
  'log',
  'sessions',
  'users',
] as const

function createPasskeys({
  audit,
  bearerAuth,
  config,
  credentials,
  emails,
  log,
  sessions,
  users,
}: Deps<(typeof deps)[number]>) {
  const ceremonies = createCeremonies(getRelyingParty(config))
  return { audit, bearerAuth, config, credentials, emails, log, sessions, users, ceremonies }
}

export default definePlugin({ name: 'passkeys', deps, create: createPasskeys })
