/**
 * Passwords: strength rules, hashing off the event loop, and verification in constant time for known and unknown
 * accounts.
 */
import { createHmac, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setPriority } from 'node:os'

import { samplePasswordHashes } from '../../../db/users/password-hashes.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createBreachedPasswords } from './breached-passwords.ts'
import { createCommonPasswords, readCommonPasswords } from './common-passwords.ts'
import { createDummyHashes, type DummyHashOptions } from './dummy-hashes.ts'
import { createHashQueue, defaultConcurrency, type HashObserver } from './hash-queue.ts'
import {
  type ArgonParameters,
  hashArgon2id,
  hashRecoveryCode,
  isOutdated,
  isSupportedHash,
  verifyHash,
} from './hashes.ts'
import { checkLength, checkStrength, findWeakness, type StrengthRules } from './strength.ts'

// Lowers the priority of libuv's thread pool, which computes hashes, where the system supports it.

/** Hashes keep a tenth of a core when all cores are busy. */
const niceness = 10

const tasks = '/proc/self/task'

/**
 * True when hashing does not slow requests without hashes. Only Linux has per-thread priorities (setpriority(2)); on
 * other systems nothing changes.
 */
export async function lowerPoolPriority(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  // Starts the pool.
  await stat('/')
  try {
    const pool = readdirSync(tasks).filter(
      (id) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === 'libuv-worker',
    )
    for (const id of pool) setPriority(Number(id), niceness)
    return pool.length > 0
  } catch {
    return false
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    passwords: ReturnType<typeof createPasswords>
  }
}

interface PasswordOptions {
  argon: ArgonParameters
  /** Derives the salts of sign-up hashes. */
  saltKey: KeyObject
  rules: StrengthRules
  /** Weaknesses that are reported without rejecting the password. */
  advisoryRules: StrengthRules
  dummies: Omit<DummyHashOptions, 'argon'>
  concurrency: number
  maxWaiting: number
  /** The hash in a stored value; undefined when it cannot be decrypted. */
  open: (id: string, stored: string) => string | undefined
  observer?: HashObserver
}

function createPasswords(options: PasswordOptions) {
  const { argon, saltKey, rules, advisoryRules, concurrency, maxWaiting, open, observer } = options
  const queue = createHashQueue(concurrency, maxWaiting, observer)
  const hash = (password: string) => queue.run(() => hashArgon2id(password, argon))
  const dummies = createDummyHashes({ ...options.dummies, argon })

  return {
    /** Throws weak_password or validation_failed. */
    checkStrength: (password: string) => checkStrength(password, rules),

    /** Throws validation_failed for a password that is too long to be hashed. */
    checkLength,

    /** Weaknesses of a password that is still accepted for sign-in. */
    findWeakness: (password: string) => findWeakness(password, advisoryRules),

    /** Throws service_unavailable when too many hashes are waiting. */
    hash,

    /**
     * For a sign-up: two hashes for one identifier are equal if and only if the passwords are. They can then be
     * compared without a second hash, whose duration would reveal an earlier sign-up.
     */
    hashForSignUp(identifier: string, password: string): Promise<string> {
      const salt = createHmac('sha256', saltKey).update(identifier).digest().subarray(0, saltBytes)
      return queue.run(() => hashArgon2id(password, argon, salt))
    },

    /** For recovery codes, which are stored separately. Throws like `hash`. */
    hashRecoveryCode: (code: string) => queue.run(() => hashRecoveryCode(code)),
    matchesHash: (stored: string, text: string) => queue.run(() => verifyHash(stored, text)),

    ...createVerification({ open, queue, dummies }),

    /** Samples the kinds of stored hashes. */
    renewDummies: dummies.renew,

    /** Whether a stored hash is replaced at the next sign-in; encrypted ones always are. */
    isOutdated: (stored: string) => isOutdated(stored, argon),

    /** Whether an imported hash can be verified. */
    isSupportedHash,

    get waiting(): number {
      return queue.waiting
    },
  }
}

/** RFC 9106 §3.1 recommends 128 bits. */
const saltBytes = 16

/** Table pages of the users table: a thousand hashes or more. */
const sampledPages = 200

export default definePlugin({
  name: 'passwords',
  deps: ['addHook', 'config', 'db', 'encryption', 'httpClient', 'log', 'telemetry'],
  async create(deps) {
    const { config, db, encryption, log, telemetry } = deps
    const open = opener(deps)
    const hasLowPriority = await lowerPoolPriority()
    const passwords = createPasswords({
      argon: {
        memoryCost: config.AUTH_PASSWORD_ARGON2_MEMORY,
        timeCost: config.AUTH_PASSWORD_ARGON2_TIME,
        parallelism: config.AUTH_PASSWORD_ARGON2_PARALLELISM,
      },
      saltKey: encryption.deriveKey('salts of sign-ups'),
      ...strengthRules(deps),
      dummies: {
        key: encryption.deriveKey('dummy hash formats'),
        sample: async () => {
          const rows = await samplePasswordHashes(db, sampledPages)
          return rows.flatMap(({ id, value }) => open(id, value) ?? [])
        },
        log,
      },
      concurrency: config.AUTH_PASSWORD_HASH_CONCURRENCY || defaultConcurrency(hasLowPriority),
      maxWaiting: config.AUTH_PASSWORD_HASH_QUEUE,
      open,
      observer: createHashObserver(deps),
    })
    deps.addHook('onReady', passwords.renewDummies)
    telemetry.metrics.gauge('postern.password_hashes.waiting', () => [
      { value: passwords.waiting, labels: {} },
    ])
    return passwords
  },
})

function createHashObserver({ telemetry: { metrics, tracing } }: Deps<'telemetry'>): HashObserver {
  return {
    ended(waitedMs, tookMs) {
      metrics.record('postern.password_hash.wait', waitedMs / 1000, {})
      metrics.record('postern.password_hash.duration', tookMs / 1000, {})
      const attributes = { 'postern.waited_ms': Math.round(waitedMs) }
      tracing.ended(() => ({ name: 'password hash', ms: waitedMs + tookMs, attributes }))
    },
    rejected: () => metrics.count('postern.password_hashes.rejected', {}),
  }
}

/** With an unreadable hash, every password is wrong: unauthenticated clients must not see a difference. */
function opener({ encryption, log }: Deps<'encryption' | 'log'>): PasswordOptions['open'] {
  return (id, stored) => {
    try {
      return encryption.decrypt(id, stored, 'A password')
    } catch (error) {
      log.error({ err: error, user_id: id }, 'stored password hash cannot be parsed')
      return undefined
    }
  }
}

function strengthRules({ config, httpClient, log }: Deps<'config' | 'httpClient' | 'log'>) {
  const common = createCommonPasswords(readCommonPasswords)
  const breached = createBreachedPasswords({ config, fetch: httpClient.fetch, log })
  const checksBreaches = config.AUTH_PASSWORD_HIBP_ENABLED
  const rules = {
    minLength: config.AUTH_PASSWORD_MIN_LENGTH,
    requiredCharacters: config.AUTH_PASSWORD_REQUIRED_CHARACTERS,
    isCommon: config.AUTH_PASSWORD_COMMON_LIST ? common.has : undefined,
  }
  return {
    rules: { ...rules, isBreached: checksBreaches ? breached.isBreached : undefined },
    advisoryRules: { ...rules, isBreached: checksBreaches ? breached.isKnownBreached : undefined },
  }
}

/** A user who may have a password. */
interface Owner {
  id: string
  /** A hash, or one encrypted by GoTrue. */
  encrypted_password: string | null
}

interface VerificationDeps {
  /** The hash in a stored value; undefined when it cannot be decrypted. */
  open: (id: string, stored: string) => string | undefined
  queue: ReturnType<typeof createHashQueue>
  dummies: ReturnType<typeof createDummyHashes>
}

/** Verifies passwords against stored hashes, or against dummy ones. */
function createVerification({ open, queue, dummies }: VerificationDeps) {
  /** Undefined when no password can match. */
  function decryptHash(owner: Owner | undefined): string | undefined {
    const stored = owner?.encrypted_password
    const opened = stored ? open(owner.id, stored) : undefined
    return opened && isSupportedHash(opened) ? opened : undefined
  }

  return {
    /** Verifies against the stored hash; false for a user without one. */
    async verify(owner: Owner, password: string): Promise<boolean> {
      const hash = decryptHash(owner)
      return hash !== undefined && queue.run(() => verifyHash(hash, password))
    },

    /** Without an account, verifies a dummy hash, so that an unknown account takes as long as a known one. */
    async verifyFor(account: string, owner: Owner | undefined, password: string) {
      dummies.renewWhenOld()
      const hash = decryptHash(owner)
      if (hash !== undefined) return queue.run(() => verifyHash(hash, password))
      await queue.run(() => verifyHash(dummies.dummyFor(account), password))
      return false
    },
  }
}
