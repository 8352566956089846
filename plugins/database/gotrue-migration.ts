/** Whether a GoTrue shares this database. If so, shared columns are written in GoTrue's format. */
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { countOAuthClients } from '../../db/gotrue/database.ts'
import { findTakeover } from '../../db/gotrue/takeover.ts'
import { definePlugin } from '../define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    gotrueMigration: Takeover
  }
}

interface Takeover {
  /** Fixed once the server is ready: servers are restarted after `npm run takeover -- finish`. */
  isShared: boolean
}

/** The database has OAuth clients, the OAuth server is off, and the operator has not accepted this. */
class OAuthServerOffError extends Error {
  override name = 'OAuthServerOffError'

  constructor(clients: number) {
    super(
      `The database has OAuth clients (${clients}), and the OAuth server is off: their users could not sign in. ` +
        'Set AUTH_OAUTH_SERVER_ENABLED=true, or AUTH_TAKEOVER_ACCEPT_MISSING=oauth_server to start without it.',
    )
  }
}

async function requireOAuthServer(db: Db, config: Config): Promise<void> {
  if (config.AUTH_OAUTH_SERVER_ENABLED) return
  if (config.AUTH_TAKEOVER_ACCEPT_MISSING.includes('oauth_server')) return
  const clients = await countOAuthClients(db, config.AUTH_DB_NAMESPACE)
  if (clients > 0) throw new OAuthServerOffError(clients)
}

export default definePlugin({
  name: 'gotrueMigration',
  deps: ['addHook', 'config', 'db'],
  create(deps) {
    const { config, db } = deps
    const takeover: Takeover = { isShared: false }
    deps.addHook('onReady', async () => {
      takeover.isShared = (await findTakeover(db)).state === 'shared'
      if (takeover.isShared) await requireOAuthServer(db, config)
    })
    return takeover
  },
})
