/** Counts shared by all replicas, in Redis or Valkey. */
import { Redis } from 'ioredis'

import type { Hits } from './local-counter.ts'

/** One round trip, and never a counter without an end. */
const script = `
local hits = redis.call('incr', KEYS[1])
local ttl = redis.call('pttl', KEYS[1])
if ttl < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  ttl = tonumber(ARGV[1])
end
return {hits, ttl}`

/** A request must not wait longer than this for a count. */
const answerMs = 250
/** How long a server that did not answer is left alone. */
const pauseMs = 2_000

export interface SharedCounterOptions {
  url: string
  /** Of every key, so that installations can share a server. */
  prefix: string
  /** Called when the server stops answering. */
  onLoss: (error: Error) => void
  /** Called when it answers again. */
  onReturn: () => void
}

/** `count` resolves to undefined, soon, while the server cannot be reached. */
export function createRedisCounter({ url, prefix, onLoss, onReturn }: SharedCounterOptions) {
  const redis = new Redis(url, {
    keyPrefix: prefix,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: answerMs,
    // A server that is gone without a word would be asked on this connection for a quarter of an hour.
    socketTimeout: pauseMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, pauseMs),
  })
  let answers = true
  let resumeAt = 0

  function answered() {
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
        answered()
        return hits
      } catch (error) {
        resumeAt = now + pauseMs
        failed(asError(error))
        return undefined
      }
    },
    /** Asks it: a replica that nobody comes to would not notice otherwise. */
    async isUp(): Promise<boolean> {
      try {
        await redis.ping()
        answered()
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
  if (!Array.isArray(answer)) throw new TypeError('Redis answered a script with something else')
  return { current: Number(answer[0]), ttl: Number(answer[1]) }
}
