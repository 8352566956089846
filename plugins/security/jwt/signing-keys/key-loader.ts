/** The key ring of this replica: loaded from the configuration or the database, and reloaded when keys change. */
import type { FastifyBaseLogger } from 'fastify'
import type { JWK } from 'jose'

import type { Db } from '../../../../db/core/database.ts'
import {
  type ApiTokenRow,
  listApiTokens,
  type SigningKeyRow,
} from '../../../../db/keys/signing-keys.ts'
import { withoutDeadline } from '../../../observability/request-context/index.ts'
import type { GeneratedAlgorithm } from './key-material.ts'
import type { KeyRing } from './key-ring.ts'
import { configuredRing, type KeyRingConfig, storedRing } from './load-ring.ts'
import { type createStoredKeys, isDue } from './stored-keys.ts'

interface KeyLoaderOptions {
  config: KeyRingConfig
  log: Pick<FastifyBaseLogger, 'info'>
  stored: ReturnType<typeof createStoredKeys>
  apiTokens: ReturnType<typeof createApiTokens>
  /** The algorithm of keys that the server generates. */
  newAlgorithm: GeneratedAlgorithm
}

export function createKeyLoader(options: KeyLoaderOptions) {
  const { config, log, stored, apiTokens } = options
  const changeListeners = new Set<() => void>()
  let ring: KeyRing | undefined
  let version = ''
  let lastLoad: Promise<unknown> = Promise.resolve()
  let looking: Promise<void> | undefined
  let lookedAt = 0

  async function load(now: Date): Promise<void> {
    if (await apiTokens.sync(now)) for (const onChange of changeListeners) onChange()
    if (config.AUTH_JWT_KEYS) ring ??= await loadConfigured(options, config.AUTH_JWT_KEYS, now)
    else await use(await loadStored(options, now))
  }

  async function use(rows: SigningKeyRow[]): Promise<void> {
    const live = rows.filter(({ state }) => state !== 'revoked')
    const seen = JSON.stringify(live.map(({ kid, state, retires_at }) => [kid, state, retires_at]))
    if (seen === version) return
    ring = await storedRing(live, config, stored.privateJwk)
    version = seen
    log.info({ kid: ring.signing.kid, alg: ring.signing.alg }, 'signing keys loaded')
    for (const onChange of changeListeners) onChange()
  }

  /**
   * Loads run one after another, so that the last one takes effect. Creates the first key, and promotes one that is
   * due.
   */
  function sync(now: Date): Promise<void> {
    const loaded = withoutDeadline(() => lastLoad.then(() => load(now)))
    lastLoad = loaded.catch(() => undefined)
    return loaded
  }

  return {
    get ring(): KeyRing {
      if (!ring) throw new Error('the signing keys are not loaded yet')
      return ring
    },
    sync,
    onChange: (listener: () => void) => changeListeners.add(listener),

    /** For a token with an unknown key id: another replica may have created the key since. */
    reload(now: Date): Promise<void> {
      // Anyone can send unknown key ids, so together they cause at most one query per second.
      if (looking === undefined || Date.now() - lookedAt >= 1_000) {
        lookedAt = Date.now()
        looking = sync(now)
      }
      return looking
    },

    /** Resolves when the last load has ended, with or without an error. */
    settled: () => lastLoad,
  }
}

async function loadStored(
  { config, stored, newAlgorithm }: KeyLoaderOptions,
  now: Date,
): Promise<SigningKeyRow[]> {
  const rows = await stored.list()
  const needsKey = config.AUTH_JWT_ALGORITHM !== 'HS256' || config.AUTH_OAUTH_SERVER_ENABLED
  const isFirstStart = needsKey && !rows.some(({ state }) => state === 'current')
  if (isFirstStart) await stored.ensureCurrent(newAlgorithm, now)
  const hasDue = rows.some((row) => isDue(row, now))
  if (hasDue) await stored.promoteDue(now)
  return isFirstStart || hasDue ? stored.list() : rows
}

/** ID tokens need a key pair: when the configured key is a shared secret, one is created and stored. */
async function loadConfigured(
  { config, stored, newAlgorithm }: KeyLoaderOptions,
  jwks: readonly JWK[],
  now: Date,
): Promise<KeyRing> {
  const configured = await configuredRing(jwks, config)
  if (!config.AUTH_OAUTH_SERVER_ENABLED || configured.idTokenSigning) return configured
  await stored.ensureCurrent(newAlgorithm, now)
  const row = (await stored.list()).find(({ state }) => state === 'current')
  if (!row) throw new Error('no key for ID tokens is current')
  return configuredRing(jwks, config, { row, privateJwk: stored.privateJwk })
}

const isRevoked = ({ revoked_at }: ApiTokenRow) => revoked_at !== null

export function createApiTokens(db: Db) {
  let revoked: ReadonlySet<string> = new Set()

  return {
    isRevoked: (jti: string | undefined): boolean => jti !== undefined && revoked.has(jti),

    /** Loads the revoked tokens; resolves to true when they changed. */
    async sync(now: Date): Promise<boolean> {
      const rows = (await listApiTokens(db, now)).filter(isRevoked)
      const before = revoked
      revoked = new Set(rows.map(({ jti }) => jti))
      return revoked.symmetricDifference(before).size > 0
    },

    /** Valid tokens, by the key they need. */
    async pins(now: Date): Promise<Map<string | null, ApiTokenRow[]>> {
      const tokens = await listApiTokens(db, now)
      return Map.groupBy(
        tokens.filter((token) => !isRevoked(token)),
        ({ kid }) => kid,
      )
    },
  }
}
