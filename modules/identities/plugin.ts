/** The dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    identities: Deps<(typeof deps)[number]>
  }
}

const deps = [
  'audit',
  'config',
  'credentials',
  'emails',
  'hooks',
  'otp',
  'sessions',
  'users',
] as const

export default definePlugin({ name: 'identities', deps, create: (instance) => instance })
