/** Passwords: strength rules, hashing off the event loop, verification that tells nothing by its time. */
import { availableParallelism } from 'node:os'

import { samplePasswordHashes } from '../db/password-sample.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { createBreachedPasswords } from './passwords/breached-passwords.ts'
import { createCommonPasswords, readCommonPasswords } from './passwords/common-passwords.ts'
import { createDecoys, type DecoyOptions } from './passwords/decoys.ts'
import { createHashQueue, type HashWatch } from './passwords/hash-queue.ts'
import {
  type ArgonParameters,
  hashArgon2id,
  isOutdated,
  isSupportedHash,
  verifyHash,
} from './passwords/hashes.ts'
import {
  checkLength,
  checkStrength,
  findWeakness,
  type StrengthRules,
} from './passwords/strength.ts'
import { lowerPoolPriority } from './passwords/thread-priority.ts'

declare module 'fastify' {
  interface FastifyInstance {
    passwords: ReturnType<typeof createPasswords>
  }
}

/** Whoever has, or may have, a password. */
interface Owner {
  id: string
  /** A hash, or one that GoTrue encrypted. */
  encrypted_password: string | null
}

interface PasswordOptions {
  argon: ArgonParameters
  rules: StrengthRules
  /** What is remarked on in a password that is not refused for it. */
  remarks: StrengthRules
  decoys: Omit<DecoyOptions, 'argon'>
  concurrency: number
  maxWaiting: number
  /** The hash in a stored value; undefined for one that cannot be decrypted. */
  open: (id: string, stored: string) => string | undefined
  watch?: HashWatch
}

function createPasswords(options: PasswordOptions) {
  const { argon, rules, remarks, concurrency, maxWaiting, open, watch } = options
  const queue = createHashQueue(concurrency, maxWaiting, watch)
  const hash = (password: string) => queue.run(() => hashArgon2id(password, argon))
  const decoys = createDecoys({ ...options.decoys, argon })

  /** Undefined where no password can match. */
  function hashOf(owner: Owner | undefined): string | undefined {
    const stored = owner?.encrypted_password
    const opened = stored ? open(owner.id, stored) : undefined
    return opened && isSupportedHash(opened) ? opened : undefined
  }

  return {
    /** Throws weak_password or validation_failed. */
    checkStrength: (password: string) => checkStrength(password, rules),

    /** Throws validation_failed for a password that is too long to be hashed. */
    checkLength,

    /** What is wrong with a password that signs in all the same. */
    findWeakness: (password: string) => findWeakness(password, remarks),

    /** Throws service_unavailable when too many hashes wait already. */
    hash,

    /** Compares with the stored hash; false for somebody without one. */
    async verify(owner: Owner, password: string): Promise<boolean> {
      const hash = hashOf(owner)
      return hash !== undefined && queue.run(() => verifyHash(hash, password))
    },

    /**
     * Compares with the hash of the account with this address. Without one, the same work is done on a hash that nothing
     * matches, so that an unknown account takes as long as a known one.
     */
    async verifyFor(account: string, owner: Owner | undefined, password: string) {
      decoys.renewWhenOld()
      const hash = hashOf(owner)
      if (hash !== undefined) return queue.run(() => verifyHash(hash, password))
      await queue.run(() => verifyHash(decoys.decoyFor(account), password))
      return false
    },

    /** Looks up which kinds of hashes are stored. */
    renewDecoys: decoys.renew,

    /** True for a stored hash that is replaced at the next sign-in; one that is encrypted is. */
    isOutdated: (stored: string) => isOutdated(stored, argon),

    /** True for a hash brought from elsewhere that we are ready to verify. */
    isSupportedHash,

    get waiting(): number {
      return queue.waiting
    },
  }
}

/** Of the table of people: a thousand hashes or more. */
const sampledPages = 200

export default definePlugin({
  name: 'passwords',
  needs: ['addHook', 'config', 'db', 'encryption', 'httpClient', 'log', 'telemetry'],
  async create(house) {
    const { config, db, encryption, log, telemetry } = house
    const open = opener(house)
    const standBack = await lowerPoolPriority()
    const passwords = createPasswords({
      argon: {
        memoryCost: config.AUTH_PASSWORD_ARGON2_MEMORY,
        timeCost: config.AUTH_PASSWORD_ARGON2_TIME,
        parallelism: config.AUTH_PASSWORD_ARGON2_PARALLELISM,
      },
      ...strengthRules(house),
      decoys: {
        key: encryption.deriveKey('kinds of decoys'),
        sample: async () => {
          const rows = await samplePasswordHashes(db, sampledPages)
          return rows.flatMap(({ id, value }) => open(id, value) ?? [])
        },
        log,
      },
      concurrency: config.AUTH_PASSWORD_HASH_CONCURRENCY || coresToHashOn(standBack),
      maxWaiting: config.AUTH_PASSWORD_HASH_QUEUE,
      open,
      watch: hashWatch(house),
    })
    house.addHook('onReady', passwords.renewDecoys)
    telemetry.metrics.gauge('postern.password_hashes.waiting', () => [
      { value: passwords.waiting, labels: {} },
    ])
    return passwords
  },
})

/** All of them where hashes stand back for everybody else; or else one stays free for those. */
function coresToHashOn(standBack: boolean): number {
  const cores = availableParallelism()
  return standBack ? cores : Math.max(1, cores - 1)
}

function hashWatch({ telemetry: { metrics, tracing } }: House<'telemetry'>): HashWatch {
  return {
    ended(waitedMs, tookMs) {
      metrics.record('postern.password_hash.wait', waitedMs / 1000, {})
      metrics.record('postern.password_hash.duration', tookMs / 1000, {})
      const attributes = { 'postern.waited_ms': Math.round(waitedMs) }
      tracing.ended(() => ({ name: 'password hash', ms: waitedMs + tookMs, attributes }))
    },
    refused: () => metrics.count('postern.password_hashes.refused', {}),
  }
}

/** Somebody whose hash cannot be read has no right password, which looks to strangers like a wrong one. */
function opener({ encryption, log }: House<'encryption' | 'log'>): PasswordOptions['open'] {
  return (id, stored) => {
    try {
      return encryption.decrypt(id, stored, 'A password')
    } catch (error) {
      log.error({ err: error, user_id: id }, 'a stored password cannot be read')
      return undefined
    }
  }
}

function strengthRules({ config, httpClient, log }: House<'config' | 'httpClient' | 'log'>) {
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
    remarks: { ...rules, isBreached: checksBreaches ? breached.isKnownBreached : undefined },
  }
}
