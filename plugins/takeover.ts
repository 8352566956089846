/** Whether a GoTrue reads this database, too: then what both read is written as it is written there. */
import type { Db } from '../db/database.ts'
import { findMissingInUse, type MissingFeature, missingFeatures } from '../db/features-in-use.ts'
import { findTakeover } from '../db/takeover.ts'
import type { Config } from './config/config.ts'
import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    takeover: Takeover
  }
}

export interface Takeover {
  /** Known once the server is ready, and not read again: after `npm run takeover -- finish`, servers are started again. */
  isShared: boolean
}

/** What was used at GoTrue is not there, and nobody has said that this is all right. */
class MissingFeatureError extends Error {
  override name = 'MissingFeatureError'

  constructor(missing: readonly MissingFeature[]) {
    const names = missing.map((feature) => missingFeatures[feature]).join(', ')
    super(
      `GoTrue was used for what is not there yet: ${names}. Whoever signs in by it would be locked out. Stay with GoTrue ` +
        `for now, or set AUTH_TAKEOVER_ACCEPT_MISSING=${missing.join(',')} to start without.`,
    )
  }
}

/** In use by the configuration or by rows of the database, and not accepted as missing. */
async function findUnaccepted(db: Db, config: Config): Promise<MissingFeature[]> {
  const inUse = new Set<MissingFeature>(
    (await findMissingInUse(db, config.AUTH_DB_NAMESPACE)).map(({ feature }) => feature),
  )
  if (config.AUTH_SAML_ENABLED) inUse.add('saml')
  if (config.AUTH_OAUTH_SERVER_ENABLED) inUse.add('oauth_server')
  if (config.AUTH_EXTERNAL_WEB3_SOLANA_ENABLED) inUse.add('web3')
  if (config.AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED) inUse.add('web3')
  const accepted: readonly MissingFeature[] = config.AUTH_TAKEOVER_ACCEPT_MISSING
  return [...inUse].filter((feature) => !accepted.includes(feature))
}

export default definePlugin({
  name: 'takeover',
  needs: ['addHook', 'config', 'db'],
  create(house) {
    const { config, db } = house
    const takeover: Takeover = { isShared: false }
    house.addHook('onReady', async () => {
      takeover.isShared = (await findTakeover(db)).state === 'shared'
      const missing = takeover.isShared ? await findUnaccepted(db, config) : []
      if (missing.length > 0) throw new MissingFeatureError(missing)
    })
    return takeover
  },
})
