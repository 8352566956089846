/** Whether a GoTrue reads this database, too: then what both read is written as it is written there. */
import { findTakeover } from '../db/takeover.ts'
import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    takeover: Takeover
  }
}

export interface Takeover {
  /** Read once, at the start: after `npm run takeover -- finish`, servers are started again. */
  isShared: boolean
}

export default definePlugin({
  name: 'takeover',
  needs: ['db'],
  create: async ({ db }) => ({ isShared: (await findTakeover(db)).state === 'shared' }),
})
