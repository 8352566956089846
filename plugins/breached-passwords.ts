/**
 * Passwords known from breaches, by the range API of Have I Been Pwned: five hex digits of the SHA-1 leave the
 * server, and the answer holds several hundred candidates among which the server looks (k-anonymity).
 */
import { createHash } from 'node:crypto'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { unexpectedFailure } from '../errors.ts'
import type { Config } from '../schemas/config/config.ts'
import { createRangeCache } from './breached-passwords/ranges.ts'

declare module 'fastify' {
  interface FastifyInstance {
    breachedPasswords: ReturnType<typeof createBreachedPasswords>
  }
}

type HibpKey = Extract<keyof Config, `AUTH_PASSWORD_HIBP_${string}`>

export interface BreachedPasswordsDeps {
  config: Pick<Config, HibpKey>
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'warn'>
  timeoutMs?: number
}

const TIMEOUT_MS = 5_000
// An answer is about 35 KB of text, so a full cache is about 7 MB.
const CACHE = { maxEntries: 200, maxAgeMs: 60 * 60 * 1000 }

export function createBreachedPasswords(deps: BreachedPasswordsDeps) {
  const { config, fetch, log, timeoutMs = TIMEOUT_MS } = deps
  const cache = createRangeCache<string>(CACHE)

  async function rangeOf(prefix: string, now: Date): Promise<string> {
    const known = cache.get(prefix, now)
    if (known !== undefined) return known
    const range = await fetchRange(
      fetch,
      `${config.AUTH_PASSWORD_HIBP_URL}/range/${prefix}`,
      timeoutMs,
    )
    cache.put(prefix, range, now)
    return range
  }

  async function look(password: string, failsClosed: boolean): Promise<boolean> {
    if (!config.AUTH_PASSWORD_HIBP_ENABLED) return false
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase()
    try {
      return lists(await rangeOf(hash.slice(0, 5), new Date()), hash.slice(5))
    } catch (error) {
      if (failsClosed)
        throw unexpectedFailure('Unable to check the password against known breaches', error)
      log.warn({ err: error }, 'the list of breached passwords did not answer; not checked')
      return false
    }
  }

  return {
    /**
     * Whether the password is in the list; false when the check is switched off. When the list cannot be read:
     * false, or throws unexpected_failure under AUTH_PASSWORD_HIBP_FAIL_CLOSED.
     */
    isBreached: (password: string) => look(password, config.AUTH_PASSWORD_HIBP_FAIL_CLOSED),

    /** The same, for a password that is only remarked on: false when the list cannot be read. */
    isKnownBreached: (password: string) => look(password, false),
  }
}

/** Throws unless the answer is a range: anything else must not pass for an empty one. */
async function fetchRange(fetch: BreachedPasswordsDeps['fetch'], url: string, timeoutMs: number) {
  // With padding the length of the encrypted answer does not tell the prefix.
  const headers = { 'Add-Padding': 'true' }
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { headers, redirect: 'error', signal })
  const range = await response.text()
  if (response.status !== 200 || !/^[0-9A-F]{35}:[0-9]+(\r?\n|$)/i.test(range))
    throw new Error(`the list of breached passwords gave no range (status ${response.status})`)
  return range
}

function lists(range: string, suffix: string): boolean {
  const found = new RegExp(`^${suffix}:([0-9]+)\\r?$`, 'im').exec(range)
  // Padding entries are seen in zero breaches.
  return found !== null && Number(found[1]) > 0
}

async function breachedPasswords(fastify: FastifyInstance) {
  const { config, httpClient, log } = fastify
  const made = createBreachedPasswords({ config, fetch: httpClient.fetch, log })
  fastify.decorate('breachedPasswords', made)
}

export default fp(breachedPasswords, {
  name: 'breached-passwords',
  fastify: '5.x',
  dependencies: ['config', 'http-client'],
})
