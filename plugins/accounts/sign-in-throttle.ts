/**
 * Slows guessing at one account from many addresses: after a few failures every further one costs a wait that
 * doubles. Unknown accounts are slowed alike, so that waiting tells nothing.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../../db/database.ts'
import {
  blockUntil,
  claimAttempt,
  countFailure,
  findThrottle,
  forgetFailures,
  type ThrottleRow,
} from '../../db/throttles.ts'
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
  const waitAfter = (failures: number) =>
    Math.min(2 ** Math.max(failures - freeFailures, 0), longestWaitSeconds)

  /** Throws while the account has to wait. A suspicious one gets one attempt at a time, not a burst of them. */
  async function admit(db: Db, account: string, throttle: ThrottleRow, now: Date): Promise<void> {
    const { failures, blocked_until: blockedUntil } = throttle
    if (blockedUntil && blockedUntil > now) throw tooManyAttempts(secondsUntil(blockedUntil, now))
    if (failures < freeFailures) return
    const wait = waitAfter(failures)
    const isClaimed = await claimAttempt(db, account, secondsAfter(now, wait), now)
    if (!isClaimed) throw tooManyAttempts(wait)
  }

  return {
    /** Throws over_request_rate_limit while the account has to wait; else says how the attempt ended. */
    async enter(db: Db, address: string, now: Date) {
      const account = createHmac('sha256', key).update(address).digest('base64url')
      const forgetBefore = secondsAfter(now, -forgottenAfterSeconds)
      const throttle = await findThrottle(db, account, forgetBefore)
      if (throttle) await admit(db, account, throttle, now)

      return {
        async failed(): Promise<void> {
          const failures = await countFailure(db, account, forgetBefore, now)
          if (failures < freeFailures) return
          await blockUntil(db, account, secondsAfter(now, waitAfter(failures)))
        },
        async succeeded(): Promise<void> {
          if (throttle) await forgetFailures(db, account)
        },
      }
    },
  }
}

function secondsAfter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000)
}

function secondsUntil(time: Date, now: Date): number {
  return Math.ceil((time.getTime() - now.getTime()) / 1000)
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
