/** The dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sessions: Deps<(typeof deps)[number]>
  }
}

const deps = [
  'audit',
  'config',
  'db',
  'emails',
  'encryption',
  'events',
  'flows',
  'hooks',
  'jwt',
  'bearerAuth',
  'otp',
  'gotrueMigration',
  'telemetry',
] as const

export default definePlugin({ name: 'sessions', deps, create: (instance) => instance })
