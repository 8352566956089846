/** Signing keys of access tokens: created at first start, shared by all replicas, rotated without a restart. */
import type { FastifyBaseLogger } from 'fastify'
import type { JWK } from 'jose'

import type { Config } from '../../../../config/groups/index.ts'
import type { Db } from '../../../../db/core/database.ts'
import { validationFailed } from '../../../../schemas/errors.ts'
import { type ChangeFollower, followChanges } from '../../../database/notifications/follow.ts'
import {
  createNotificationListener,
  type SubscribeFn,
} from '../../../database/notifications/listener.ts'
import type { Deps } from '../../../define-plugin.ts'
import type { Encryption } from '../../encryption/index.ts'
import { createApiTokens, createKeyLoader } from './key-loader.ts'
import type { GeneratedAlgorithm } from './key-material.ts'
import type { KeyRing } from './key-ring.ts'
import type { KeyRingConfig } from './load-ring.ts'
import {
  createStoredKeys,
  jwksMaxAge,
  type RecordKeyChange,
  signingKeysChannel,
  standbySeconds,
} from './stored-keys.ts'

/** In log lines. */
const subject = 'signing key'

export type SigningKeys = ReturnType<typeof createSigningKeys>

interface SigningKeysOptions {
  db: Db
  config: KeyRingConfig & Pick<Config, 'AUTH_JWT_EXP'>
  encryption: Encryption
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Without it, changes by other replicas are found by polling only. */
  listen?: SubscribeFn
}

interface KeyChangeOptions {
  /** For a change that a user requested: records the actor in the same transaction. */
  record?: RecordKeyChange
}

interface NewKeyOptions extends KeyChangeOptions {
  /** Seconds until it signs; the default is safe for verifiers that cache the JWKS. */
  activateAfter?: number | undefined
}

export function createSigningKeys(options: SigningKeysOptions) {
  const { db, config, encryption, log, listen } = options
  const stored = createStoredKeys({ db, encryption, tokenSeconds: config.AUTH_JWT_EXP })
  const newAlgorithm = algorithmOfNewKeys(config.AUTH_JWT_ALGORITHM)
  const apiTokens = createApiTokens(db)
  const loader = createKeyLoader({ config, log, stored, apiTokens, newAlgorithm })
  const { sync } = loader
  let follower: ChangeFollower | undefined

  async function look(): Promise<void> {
    try {
      await sync(new Date())
    } catch (err) {
      log.warn({ err }, 'signing keys could not be loaded, the known keys stay in use')
    }
  }

  return {
    sync,
    onChange: loader.onChange,
    reload: loader.reload,
    /** The keys known to this replica. Throws before the first `sync`. */
    get ring(): KeyRing {
      return loader.ring
    },
    /** Whether the token with this `jti` was revoked individually. */
    isRevoked: apiTokens.isRevoked,
    /** Seconds for which the public keys may be cached. */
    jwksMaxAge,
    pins: apiTokens.pins,

    /** Follows changes of other replicas until `close`: keys and revoked tokens. */
    follow(): void {
      follower ??= followChanges({ channel: signingKeysChannel, subject, look, listen, log })
    },
    async close(): Promise<void> {
      await follower?.close()
      await loader.settled()
    },

    /** The stored keys with their states, oldest first; none is used with AUTH_JWT_KEYS. */
    list: async () => (config.AUTH_JWT_KEYS ? [] : stored.list()),

    ...createKeyChanges({ config, stored, newAlgorithm, sync }),
  }
}

interface KeyChangeDeps {
  config: KeyRingConfig
  stored: ReturnType<typeof createStoredKeys>
  newAlgorithm: GeneratedAlgorithm
  sync: (now: Date) => Promise<void>
}

function createKeyChanges({ config, stored, newAlgorithm, sync }: KeyChangeDeps) {
  /** Changes the stored keys, applies the change here and notifies other replicas. */
  async function change<T>(now: Date, make: () => Promise<T>): Promise<T> {
    rejectConfigured(config)
    const result = await make()
    await sync(now)
    return result
  }

  return {
    /** Creates a key that is published now and signs later. Returns its id. */
    rotate: (
      alg: GeneratedAlgorithm | undefined,
      { activateAfter = standbySeconds, record }: NewKeyOptions,
      now: Date,
    ) => change(now, () => stored.rotate(alg ?? newAlgorithm, activateAfter, record, now)),

    /** Imports a private JWK that is published now and signs later. Returns its id. */
    importKey: (jwk: JWK, { activateAfter = standbySeconds, record }: NewKeyOptions, now: Date) =>
      change(now, () => stored.importKey(jwk, activateAfter, record, now)),

    /** Rejects every token of the key from now on; the current key is replaced immediately. */
    revoke: (kid: string, { record }: KeyChangeOptions, now: Date) =>
      change(now, () => stored.revoke(kid, newAlgorithm, record, now)),

    /** Keeps the key valid until then, for a token with a longer lifetime than usual. */
    async keepUntil(kid: string | undefined, until: Date): Promise<void> {
      if (kid !== undefined && !config.AUTH_JWT_KEYS) await stored.keepUntil(kid, until)
    },
  }
}

function rejectConfigured({ AUTH_JWT_KEYS }: KeyRingConfig): void {
  if (!AUTH_JWT_KEYS) return
  throw validationFailed('The signing keys come from AUTH_JWT_KEYS: change them there', 422)
}

function algorithmOfNewKeys(configured: Config['AUTH_JWT_ALGORITHM']): GeneratedAlgorithm {
  return configured === 'HS256' ? 'RS256' : configured
}

/** The server's keys: loaded before it serves, then kept up to date. */
export function createSigningKeyStore(
  deps: Deps<'addHook' | 'config' | 'db' | 'encryption' | 'log' | 'telemetry'>,
): SigningKeys {
  const { config, db, encryption, log, telemetry } = deps
  const listen = createNotificationListener(config.DATABASE_URL, log)
  const keys = createSigningKeys({ db, config, encryption, log, listen })
  deps.addHook('onReady', async () => {
    await keys.sync(new Date())
    keys.follow()
  })
  deps.addHook('onClose', keys.close)
  telemetry.metrics.gauge('postern.signing_key.age', async () => {
    const current = (await keys.list()).find(({ state }) => state === 'current')
    if (!current) return []
    const signsSince = current.activates_at ?? current.created_at
    return [{ value: (Date.now() - signsSince.getTime()) / 1000, labels: {} }]
  })
  return keys
}
