/** Keys of access tokens: made at first start, shared by all replicas, rotated without a restart. */
import type { FastifyBaseLogger } from 'fastify'
import type { JWK } from 'jose'

import type { Db } from '../../db/database.ts'
import type { SigningKeyRow } from '../../db/signing-keys.ts'
import { validationFailed } from '../../errors.ts'
import type { Config } from '../config/config.ts'
import { withoutTimeLimit } from '../context.ts'
import type { House } from '../define-plugin.ts'
import type { Encryption } from '../encryption.ts'
import { type Follower, follow } from './signing-keys/follow.ts'
import type { RecordKeyChange } from './signing-keys/key-change.ts'
import type { GeneratedAlgorithm } from './signing-keys/key-material.ts'
import type { KeyRing } from './signing-keys/key-ring.ts'
import { createListen, type Listen } from './signing-keys/listener.ts'
import { configuredRing, type KeyRingConfig, storedRing } from './signing-keys/load-ring.ts'
import { createStoredKeys, isDue, jwksMaxAge, standbySeconds } from './signing-keys/stored-keys.ts'

export type SigningKeys = ReturnType<typeof createSigningKeys>

export interface SigningKeysOptions {
  db: Db
  config: KeyRingConfig & Pick<Config, 'AUTH_JWT_EXP'>
  encryption: Encryption
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Without it, changes by other replicas are found by polling alone. */
  listen?: Listen
}

export interface KeyChangeOptions {
  /** Of what somebody asked for: writes down who it was, in the same transaction. */
  record?: RecordKeyChange
}

export interface NewKeyOptions extends KeyChangeOptions {
  /** Seconds until it signs; the default keeps every verifier that caches the JWKS working. */
  activateAfter?: number | undefined
}

export function createSigningKeys({ db, config, encryption, log, listen }: SigningKeysOptions) {
  const stored = createStoredKeys({ db, encryption, tokenSeconds: config.AUTH_JWT_EXP })
  const newAlgorithm = algorithmOfNewKeys(config.AUTH_JWT_ALGORITHM)
  const changeListeners = new Set<() => void>()
  let ring: KeyRing | undefined
  let version = ''
  let lastLoad: Promise<unknown> = Promise.resolve()
  let looking: Promise<void> | undefined
  let lookedAt = 0
  let follower: Follower | undefined

  async function load(now: Date): Promise<void> {
    if (config.AUTH_JWT_KEYS) {
      ring ??= await configuredRing(config.AUTH_JWT_KEYS, config)
      return
    }
    const rows = await stored.list()
    const isFirstStart =
      config.AUTH_JWT_ALGORITHM !== 'HS256' && !rows.some(({ state }) => state === 'current')
    if (isFirstStart) await stored.ensureCurrent(newAlgorithm, now)
    const hasDue = rows.some((row) => isDue(row, now))
    if (hasDue) await stored.promoteDue(now)
    await use(isFirstStart || hasDue ? await stored.list() : rows)
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

  /** One after the other, so that what was read last is what stays. */
  function sync(now: Date): Promise<void> {
    const loaded = withoutTimeLimit(() => lastLoad.then(() => load(now)))
    lastLoad = loaded.catch(() => undefined)
    return loaded
  }

  /** Runs a change of the stored keys and puts it to use here; the others hear of it. */
  async function change<T>(now: Date, make: () => Promise<T>): Promise<T> {
    if (config.AUTH_JWT_KEYS) {
      throw validationFailed('The signing keys come from AUTH_JWT_KEYS: change them there.', 422)
    }
    const result = await make()
    await sync(now)
    return result
  }

  return {
    /** The keys as this replica knows them. Throws before the first `sync`. */
    get ring(): KeyRing {
      if (!ring) throw new Error('the signing keys are not loaded yet')
      return ring
    },

    /** Seconds for which the public keys may be cached. */
    jwksMaxAge,

    /** Reads the keys; makes the first one, and promotes a waiting one, where that is due. */
    sync,

    /** For a token that names an unknown key: another replica may just have made it. */
    lookAgain(now: Date): Promise<void> {
      // Anybody can send tokens that name unknown keys, so all of them together cause one query a second.
      if (looking === undefined || Date.now() - lookedAt >= 1_000) {
        lookedAt = Date.now()
        looking = sync(now)
      }
      return looking
    },

    onChange: (listener: () => void) => changeListeners.add(listener),

    /** Keeps up with the other replicas until `close`. */
    follow(): void {
      if (!config.AUTH_JWT_KEYS) follower ??= follow({ sync, listen, log })
    },
    async close(): Promise<void> {
      await follower?.close()
      await lastLoad
    },

    /** The stored keys with their states, oldest first; AUTH_JWT_KEYS puts them all out of use. */
    list: async () => (config.AUTH_JWT_KEYS ? [] : stored.list()),

    /** Makes a key that is shown now and signs later. Returns its id. */
    rotate: (
      alg: GeneratedAlgorithm | undefined,
      { activateAfter = standbySeconds, record }: NewKeyOptions,
      now: Date,
    ) => change(now, () => stored.rotate(alg ?? newAlgorithm, activateAfter, record, now)),

    /** Takes in a private JWK, which is shown now and signs later. Returns its id. */
    importKey: (jwk: JWK, { activateAfter = standbySeconds, record }: NewKeyOptions, now: Date) =>
      change(now, () => stored.importKey(jwk, activateAfter, record, now)),

    /** Refuses every token of the key from now on; the current key gets a successor at once. */
    revoke: (kid: string, { record }: KeyChangeOptions, now: Date) =>
      change(now, () => stored.revoke(kid, newAlgorithm, record, now)),

    /** Makes the key verify until then, for a token of it that lives longer than most. */
    async keepUntil(kid: string | undefined, until: Date): Promise<void> {
      if (kid !== undefined && !config.AUTH_JWT_KEYS) await stored.keepUntil(kid, until)
    },
  }
}

function algorithmOfNewKeys(configured: Config['AUTH_JWT_ALGORITHM']): GeneratedAlgorithm {
  return configured === 'HS256' ? 'RS256' : configured
}

/** The keys of this server: read before it serves, and followed while it does. */
export function keepSigningKeys(
  house: House<'addHook' | 'config' | 'db' | 'encryption' | 'log' | 'telemetry'>,
): SigningKeys {
  const { config, db, encryption, log, telemetry } = house
  const listen = createListen(config.DATABASE_URL, log)
  const keys = createSigningKeys({ db, config, encryption, log, listen })
  house.addHook('onReady', async () => {
    await keys.sync(new Date())
    keys.follow()
  })
  house.addHook('onClose', keys.close)
  telemetry.metrics.gauge('postern.signing_key.age', async () => {
    const current = (await keys.list()).find(({ state }) => state === 'current')
    if (!current) return []
    const signsSince = current.activates_at ?? current.created_at
    return [{ value: (Date.now() - signsSince.getTime()) / 1000, labels: {} }]
  })
  return keys
}
