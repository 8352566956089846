/**
 * The queue's connection pool, which works around two problems of graphile-worker: it gives up when it cannot connect
 * to store a completion, leaving the job locked, so connecting is retried here for a while; and it releases a client
 * twice when the database is lost during a completion, whose unhandled error would end the process.
 */
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import type { QueueLog } from './library-log.ts'

type Release = (error?: Error | boolean) => void
type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: Release,
) => void

interface QueuePoolOptions extends pg.PoolConfig {
  /** How long connecting is retried. */
  retryMs?: number
}

/** Milliseconds. Longer than for requests, because no client waits. */
const connectionTimeoutMillis = 30_000
const defaultRetryMs = 30_000
const pauseMs = 500

export class QueuePool extends pg.Pool {
  readonly #retryMs: number

  constructor({ retryMs = defaultRetryMs, ...options }: QueuePoolOptions) {
    super(options)
    this.#retryMs = retryMs
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connected = this.#connectWithRetries()
    if (!callback) return connected
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  async #connectWithRetries(): Promise<pg.PoolClient> {
    const end = performance.now() + this.#retryMs
    for (;;) {
      try {
        const client = await super.connect()
        client.release = once(client.release)
        return client
      } catch (error) {
        if (this.ending || isFinal(error) || performance.now() > end) throw error
      }
      await pause(pauseMs, undefined, { ref: false })
    }
  }
}

/** Wrong password, missing role or database (SQLSTATE 28, 3D). */
function isFinal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')
}

/** Two connections: one waits for notifications, the other fetches and finishes jobs. */
export function createQueuePool(options: QueuePoolOptions, log: QueueLog): QueuePool {
  const pool = new QueuePool({ ...options, max: 2, connectionTimeoutMillis })
  pool.on('error', (error) => log.debug({ err: error }, 'job queue lost an idle connection'))
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error })))
  return pool
}

function once(release: Release): Release {
  let isReleased = false
  return (error) => {
    if (isReleased) return
    isReleased = true
    release(error)
  }
}
