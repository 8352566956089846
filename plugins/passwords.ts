/** Passwords: strength rules, hashing off the event loop, verification that tells nothing by its time. */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { createHashQueue } from './passwords/hash-queue.ts'
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

declare module 'fastify' {
  interface FastifyInstance {
    passwords: ReturnType<typeof createPasswords>
  }
}

interface PasswordOptions {
  argon: ArgonParameters
  rules: StrengthRules
  /** What is remarked on in a password that is not refused for it. */
  remarks: StrengthRules
  concurrency: number
  maxWaiting: number
}

export function createPasswords(options: PasswordOptions) {
  const { argon, rules, remarks, concurrency, maxWaiting } = options
  const queue = createHashQueue(concurrency, maxWaiting)
  const hash = (password: string) => queue.run(() => hashArgon2id(password, argon))
  let dummy: Promise<string> | undefined

  return {
    /** Throws weak_password or validation_failed. */
    checkStrength: (password: string) => checkStrength(password, rules),

    /** Throws validation_failed for a password that is too long to be hashed. */
    checkLength,

    /** What is wrong with a password that signs in all the same. */
    findWeakness: (password: string) => findWeakness(password, remarks),

    /** Throws service_unavailable when too many hashes wait already. */
    hash,

    /**
     * Compares with a stored hash. Without one, the same work is done on a hash that nothing matches,
     * so that an unknown account takes as long as a known one.
     */
    async verify(stored: string | null | undefined, password: string): Promise<boolean> {
      if (stored) return queue.run(() => verifyHash(stored, password))
      dummy ??= hash(randomBytes(24).toString('base64'))
      const decoy = await dummy
      await queue.run(() => verifyHash(decoy, password))
      return false
    },

    isOutdated: (stored: string) => isOutdated(stored, argon),

    /** True for a hash brought from elsewhere that we are ready to verify. */
    isSupportedHash,

    get waiting(): number {
      return queue.waiting
    },
  }
}

async function passwords(fastify: FastifyInstance) {
  const { config, breachedPasswords } = fastify
  const checksBreaches = config.AUTH_PASSWORD_HIBP_ENABLED
  const rules = {
    minLength: config.AUTH_PASSWORD_MIN_LENGTH,
    requiredCharacters: config.AUTH_PASSWORD_REQUIRED_CHARACTERS,
  }
  const decorator = createPasswords({
    argon: {
      memoryCost: config.AUTH_PASSWORD_ARGON2_MEMORY,
      timeCost: config.AUTH_PASSWORD_ARGON2_TIME,
      parallelism: config.AUTH_PASSWORD_ARGON2_PARALLELISM,
    },
    rules: { ...rules, isBreached: checksBreaches ? breachedPasswords.isBreached : undefined },
    remarks: {
      ...rules,
      isBreached: checksBreaches ? breachedPasswords.isKnownBreached : undefined,
    },
    // One core stays free for everybody who is not waiting for a hash.
    concurrency: config.AUTH_PASSWORD_HASH_CONCURRENCY || Math.max(1, availableParallelism() - 1),
    maxWaiting: config.AUTH_PASSWORD_HASH_QUEUE,
  })
  fastify.decorate('passwords', decorator)
  fastify.metrics.gauge('postern.password_hashes.waiting', () => [
    { value: decorator.waiting, labels: {} },
  ])
}

export default fp(passwords, {
  name: 'passwords',
  fastify: '5.x',
  dependencies: ['config', 'breached-passwords'],
})
