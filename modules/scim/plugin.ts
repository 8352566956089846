/** The dependencies of this module. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    scim: ScimDeps
  }
}

const deps = ['audit', 'config', 'db', 'events', 'hooks', 'sessions', 'users'] as const

export type ScimDeps = Deps<(typeof deps)[number]>

export default definePlugin({ name: 'scim', deps, create: (instance) => instance })
