/**
 * Passwords known from breaches, by the range API of Have I Been Pwned: five hex digits of the SHA-1 leave the
 * server, and the answer holds several hundred candidates among which the server looks (k-anonymity).
 */
import { createHash } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'

import { unexpectedFailure } from '../../errors.ts'
import type { Config } from '../config/config.ts'

type HibpKey = Extract<keyof Config, `AUTH_PASSWORD_HIBP_${string}`>

export interface BreachedPasswordsDeps {
  config: Pick<Config, HibpKey>
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'warn'>
  timeoutMs?: number
}

const usualTimeoutMs = 5_000
// Common prefixes are asked for again and again. An answer is about 35 KB of text, so a full cache is about 7 MB.
const cacheOptions = {
  max: 200,
  ttl: 60 * 60 * 1000,
  // Ages are counted by the same clock as everywhere else in the server, read at every look.
  perf: { now: () => Date.now() },
  ttlResolution: 0,
}

export function createBreachedPasswords(deps: BreachedPasswordsDeps) {
  const { config, fetch, log, timeoutMs = usualTimeoutMs } = deps
  const ranges = new LRUCache<string, string>({
    ...cacheOptions,
    // An answer whose entry is evicted meanwhile still reaches its callers.
    ignoreFetchAbort: true,
    fetchMethod: (prefix) =>
      fetchRange(fetch, `${config.AUTH_PASSWORD_HIBP_URL}/range/${prefix}`, timeoutMs),
  })

  async function look(
    password: string,
    { failsClosed }: { failsClosed: boolean },
  ): Promise<boolean> {
    if (!config.AUTH_PASSWORD_HIBP_ENABLED) return false
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase()
    try {
      return lists(await ranges.forceFetch(hash.slice(0, 5)), hash.slice(5))
    } catch (error) {
      if (failsClosed) {
        throw unexpectedFailure('Unable to check the password against known breaches', error)
      }
      log.warn({ err: error }, 'the list of breached passwords did not answer; not checked')
      return false
    }
  }

  return {
    /**
     * Whether the password is in the list; false when the check is switched off. When the list cannot be read:
     * false, or throws unexpected_failure under AUTH_PASSWORD_HIBP_FAIL_CLOSED.
     */
    isBreached: (password: string) =>
      look(password, { failsClosed: config.AUTH_PASSWORD_HIBP_FAIL_CLOSED }),

    /** The same, for a password that is only remarked on: false when the list cannot be read. */
    isKnownBreached: (password: string) => look(password, { failsClosed: false }),
  }
}

/** Throws unless the answer is a range: anything else must not pass for an empty one. */
async function fetchRange(fetch: BreachedPasswordsDeps['fetch'], url: string, timeoutMs: number) {
  // With padding the length of the encrypted answer does not tell the prefix.
  const headers = { 'Add-Padding': 'true' }
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { headers, redirect: 'error', signal })
  const range = await response.text()
  if (response.status !== 200 || !/^[0-9A-F]{35}:[0-9]+(\r?\n|$)/i.test(range)) {
    throw new Error(`the list of breached passwords gave no range (status ${response.status})`)
  }
  return range
}

function lists(range: string, suffix: string): boolean {
  const found = new RegExp(`^${suffix}:([0-9]+)\\r?$`, 'im').exec(range)
  // Padding entries are seen in zero breaches.
  return found !== null && Number(found[1]) > 0
}
