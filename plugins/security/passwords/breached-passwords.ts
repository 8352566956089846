/**
 * Checks passwords with the range API of Have I Been Pwned: only five hex digits of the SHA-1 leave the server, which
 * searches several hundred candidates in the response (k-anonymity).
 */
import { createHash } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'

import type { Config } from '../../../config/groups/index.ts'
import { unexpectedFailure } from '../../../schemas/errors.ts'

type HibpKey = Extract<keyof Config, `AUTH_PASSWORD_HIBP_${string}`>

export interface BreachedPasswordsDeps {
  config: Pick<Config, HibpKey>
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'warn'>
  timeoutMs?: number
}

const defaultTimeoutMs = 5_000
// Common prefixes repeat. A response is about 35 KB of text, so a full cache is about 7 MB.
const cacheOptions = {
  max: 200,
  ttl: 60 * 60 * 1000,
  // Uses Date, as the rest of the server does.
  perf: { now: () => Date.now() },
  ttlResolution: 0,
}

export function createBreachedPasswords(deps: BreachedPasswordsDeps) {
  const { config, fetch, log, timeoutMs = defaultTimeoutMs } = deps
  const ranges = new LRUCache<string, string>({
    ...cacheOptions,
    // A response whose entry was evicted still reaches its callers.
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
      log.warn({ err: error }, 'breached password service unavailable, password not checked')
      return false
    }
  }

  return {
    /**
     * Whether the password is in the list; false when the check is disabled. When the list is unavailable: false, or
     * throws unexpected_failure under AUTH_PASSWORD_HIBP_FAIL_CLOSED.
     */
    isBreached: (password: string) =>
      look(password, { failsClosed: config.AUTH_PASSWORD_HIBP_FAIL_CLOSED }),

    /** The same for an advisory check: false when the list is unavailable. */
    isKnownBreached: (password: string) => look(password, { failsClosed: false }),
  }
}

/** Throws unless the response is a range, so that an error page does not count as an empty one. */
async function fetchRange(fetch: BreachedPasswordsDeps['fetch'], url: string, timeoutMs: number) {
  // Padding hides the prefix from the length of the encrypted response.
  const headers = { 'Add-Padding': 'true' }
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { headers, redirect: 'error', signal })
  const range = await response.text()
  if (response.status !== 200 || !/^[0-9A-F]{35}:[0-9]+(\r?\n|$)/i.test(range)) {
    throw new Error(`the breached password service returned no range (status ${response.status})`)
  }
  return range
}

function lists(range: string, suffix: string): boolean {
  const found = new RegExp(`^${suffix}:([0-9]+)\\r?$`, 'im').exec(range)
  // Padding entries have a count of zero.
  return found !== null && Number(found[1]) > 0
}
