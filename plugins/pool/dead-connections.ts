/**
 * Connections whose Postgres is gone without a word, because its machine lost power or its address leads to another one
 * now: what was sent on them is never answered, and the system gives up after a quarter of an hour only.
 */
import pg from 'pg'

import { backendOf, isPooled } from './pooler.ts'

/** Milliseconds that a connection is in use without being looked at; from then on they double. */
const firstPatienceMs = 5_000
const lookEveryMs = 2_000
/** A Postgres that takes longer tells nothing. */
const answerMs = 2_000

interface Use {
  since: number
  patienceMs: number
}

/**
 * Asks Postgres, on a connection of its own, which of those that are in use for long it knows, and ends the others, so
 * that their statements fail, for as long as there is the pool. Behind a pooler it ends none, as Postgres does not know them.
 */
export function endDeadConnections(pool: pg.Pool): void {
  const uses = new Map<pg.PoolClient, Use>()
  let isLooking = false
  pool.on('acquire', (client) => {
    uses.set(client, { since: performance.now(), patienceMs: firstPatienceMs })
  })
  pool.on('release', (_error, client) => uses.delete(client))

  async function look(): Promise<void> {
    if (pool.ended) return clearInterval(timer)
    const now = performance.now()
    const long = [...uses].filter(([, { since, patienceMs }]) => now - since > patienceMs)
    if (long.length === 0 || isLooking) return
    isLooking = true
    try {
      const isKnown = await backendsOf(pool.options)
      for (const [client, use] of long) {
        if (isKnown(client)) use.patienceMs *= 2
        else if (uses.get(client) === use) client.connection.stream.destroy()
      }
    } catch {
      // A database that cannot be reached is asked again.
    } finally {
      isLooking = false
    }
  }

  const timer = setInterval(() => void look(), lookEveryMs).unref()
}

/** Throws when Postgres does not answer. */
async function backendsOf(options: pg.PoolOptions) {
  const client = new pg.Client({
    ...options,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    if (await isPooled(client)) return () => true
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity')
    const known = new Set(rows.map(({ pid }) => pid))
    return (one: pg.ClientBase) => known.has(backendOf(one) ?? 0)
  } finally {
    void client.end()
  }
}
