/** The dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    organizations: Deps<(typeof deps)[number]>
  }
}

const deps = ['audit', 'bearerAuth', 'config', 'db', 'emails', 'events', 'hooks', 'otp'] as const

export default definePlugin({ name: 'organizations', deps, create: (instance) => instance })
