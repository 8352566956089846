/** The dependencies of this module, and the compiled redirect rules. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { createRedirectPolicy } from './redirects/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    flows: ReturnType<typeof createFlows>
  }
}

const deps = [
  'config',
  'db',
  'encryption',
  'mailer',
  'oauthProviders',
  'otp',
  'gotrueMigration',
] as const

function createFlows({
  config,
  db,
  encryption,
  mailer,
  oauthProviders,
  otp,
  gotrueMigration,
}: Deps<(typeof deps)[number]>) {
  const policy = createRedirectPolicy({ config })
  return {
    ...{ config, db, encryption, mailer, oauthProviders, otp, gotrueMigration },
    get redirectRules() {
      return policy.redirectRules
    },
  }
}

export default definePlugin({ name: 'flows', deps, create: createFlows })
