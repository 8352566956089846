/** Counters shared by all replicas, in Redis or Valkey. */
import { Redis } from 'ioredis'

import type { Hits } from './local-counter.ts'

/** One round trip, and the counter always gets its expiry. */
const script = `
local hits = redis.call('incr', KEYS[1])
local ttl = redis.call('pttl', KEYS[1])
if ttl < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  ttl = tonumber(ARGV[1])
end
return {hits, ttl}`

/** Maximum time a request waits for a count. */
const maxResponseMs = 250
/** How long an unresponsive server is not called. */
const pauseMs = 2_000

interface SharedCounterOptions {
  url: string
  /** Prepended to every key, so that installations can share a server. */
  prefix: string
  /** Called when the server stops responding. */
  onLoss: (error: Error) => void
  /** Called when it responds again. */
  onReturn: () => void
}

/** `count` resolves to undefined, without delay, while the server is unreachable. */
export function createRedisCounter({ url, prefix, onLoss, onReturn }: SharedCounterOptions) {
  const redis = new Redis(url, {
    keyPrefix: prefix,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: maxResponseMs,
    // Otherwise an unresponsive server would block this connection for a quarter of an hour.
    socketTimeout: pauseMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, pauseMs),
  })
  let answers = true
  let resumeAt = 0

  function isResponding() {
    if (!answers) onReturn()
    answers = true
  }

  function failed(error: Error) {
    if (answers) onLoss(error)
    answers = false
  }

  redis.on('error', failed)

  return {
    async count(key: string, windowMs: number, now: number): Promise<Hits | undefined> {
      if (redis.status !== 'ready' || now < resumeAt) return undefined
      try {
        const hits = toHits(await redis.eval(script, 1, key, windowMs))
        isResponding()
        return hits
      } catch (error) {
        resumeAt = now + pauseMs
        failed(asError(error))
        return undefined
      }
    },
    /** Pings the server: a replica without requests would not notice an outage otherwise. */
    async isUp(): Promise<boolean> {
      try {
        await redis.ping()
        isResponding()
        return true
      } catch (error) {
        failed(asError(error))
        return false
      }
    },

    close: () => redis.disconnect(),
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function toHits(answer: unknown): Hits {
  if (!Array.isArray(answer)) throw new TypeError('unexpected Redis script result')
  return { current: Number(answer[0]), ttl: Number(answer[1]) }
}
