/** The dependencies of this module, and the rules for names where they are enabled. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { usernameRules } from './rules.ts'
import { loadSkeleton } from './skeleton.ts'

declare module 'fastify' {
  interface FastifyInstance {
    usernames: Awaited<ReturnType<typeof createUsernames>>
  }
}

const deps = ['audit', 'config'] as const

async function createUsernames({ audit, config }: Deps<(typeof deps)[number]>) {
  const rules = config.AUTH_USERNAMES_ENABLED
    ? usernameRules(config, await loadSkeleton())
    : undefined
  return { audit, config, rules }
}

export default definePlugin({ name: 'usernames', deps, create: createUsernames })
