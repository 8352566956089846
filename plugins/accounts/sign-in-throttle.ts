/**
 * Slows guessing at one account from many addresses: after a few failures every further one costs a wait that
 * doubles. Unknown accounts are slowed alike, so that waiting tells nothing.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../../db/database.ts'
import { blockUntil, countFailure, findBlock, forgetFailures } from '../../db/throttles.ts'
import { tooManyAttempts } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    signInThrottle: Throttle
    /** For codes that were sent to an address; each code has a bound of its own besides. */
    codeThrottle: Throttle
  }
}

export type Throttle = ReturnType<typeof createThrottle>

/** A person who mistypes is not slowed; a list of passwords is. */
const freePasswords = 10
/** Two codes that somebody may use up. */
const freeCodes = 20
const longestWaitSeconds = 300
const forgottenAfterSeconds = 3600

export function createThrottle(key: Buffer, freeFailures: number) {
  return {
    /** Throws over_request_rate_limit while the account has to wait; else says how the attempt ended. */
    async enter(db: Db, address: string, now: Date) {
      const account = createHmac('sha256', key).update(address).digest('base64url')
      const blocked = await findBlock(db, account, now)
      if (blocked) throw tooManyAttempts(Math.ceil((blocked.getTime() - now.getTime()) / 1000))

      return {
        async failed(): Promise<void> {
          const forgetBefore = new Date(now.getTime() - forgottenAfterSeconds * 1000)
          const failures = await countFailure(db, account, forgetBefore, now)
          if (failures < freeFailures) return
          const wait = Math.min(2 ** (failures - freeFailures), longestWaitSeconds)
          await blockUntil(db, account, new Date(now.getTime() + wait * 1000))
        },
        succeeded: (): Promise<void> => forgetFailures(db, account),
      }
    },
  }
}

async function signInThrottle(fastify: FastifyInstance) {
  const { encryption } = fastify
  const passwordKey = encryption.deriveKey('sign-in throttle')
  fastify.decorate('signInThrottle', createThrottle(passwordKey, freePasswords))
  const codeKey = encryption.deriveKey('code throttle')
  fastify.decorate('codeThrottle', createThrottle(codeKey, freeCodes))
}

export default fp(signInThrottle, {
  name: 'sign-in-throttle',
  fastify: '5.x',
  dependencies: ['encryption'],
})
