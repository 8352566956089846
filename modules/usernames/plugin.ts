/** The rules for usernames where they are enabled, and the key that hashes networks. */
import type { FastifyInstance } from 'fastify'

import { defineModule } from '../../plugins/define-plugin.ts'
import { loadSkeleton, usernameRules } from './rules.ts'

declare module 'fastify' {
  interface FastifyInstance {
    usernames: Awaited<ReturnType<typeof createUsernames>>
  }
}

async function createUsernames({ config, encryption }: FastifyInstance) {
  const rules = config.AUTH_USERNAMES_ENABLED
    ? usernameRules(config, await loadSkeleton())
    : undefined
  return { rules, networkKey: encryption.deriveKey('usernames') }
}

export default defineModule('usernames', createUsernames)
