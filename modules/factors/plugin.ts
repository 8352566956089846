/** The dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    factors: Deps<(typeof deps)[number]>
  }
}

const deps = [
  'audit',
  'config',
  'credentials',
  'emails',
  'encryption',
  'events',
  'hooks',
  'log',
  'bearerAuth',
  'otp',
  'passwords',
  'sessions',
  'sms',
  'passkeys',
] as const

export default definePlugin({ name: 'factors', deps, create: (instance) => instance })
