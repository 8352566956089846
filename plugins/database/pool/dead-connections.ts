/**
 * Detects connections whose Postgres disappeared without closing them, because its host lost power or its address
 * moved. The kernel would give up only after a quarter of an hour.
 */
import type pg from 'pg'

import { DatabaseClient } from './database-client.ts'
import { getBackendId, isPooled } from './pooler.ts'

/** Milliseconds a connection may be in use before the first check; doubled after each check. */
const initialWaitMs = 5_000
const lookEveryMs = 2_000
/** A slower response is inconclusive. */
const maxResponseMs = 2_000

interface Use {
  since: number
  checkAfterMs: number
}

/**
 * Queries over a separate connection which of the long-used connections still exist, and closes the others so
 * that their statements fail. Behind a pooler it closes none, because Postgres does not know their numbers.
 */
export function endDeadConnections(pool: pg.Pool): void {
  const uses = new Map<pg.PoolClient, Use>()
  let isLooking = false
  pool.on('acquire', (client) => {
    uses.set(client, { since: performance.now(), checkAfterMs: initialWaitMs })
  })
  pool.on('release', (_error, client) => uses.delete(client))

  async function look(): Promise<void> {
    if (pool.ended) return clearInterval(timer)
    const now = performance.now()
    const longUsed = [...uses].filter(([, { since, checkAfterMs }]) => now - since > checkAfterMs)
    if (longUsed.length === 0 || isLooking) return
    isLooking = true
    try {
      const isKnown = await listBackends(pool.options)
      for (const [client, use] of longUsed) {
        if (isKnown(client)) use.checkAfterMs *= 2
        else if (uses.get(client) === use) client.connection.stream.destroy()
      }
    } catch {
      // An unreachable database is checked again later.
    } finally {
      isLooking = false
    }
  }

  const timer = setInterval(() => void look(), lookEveryMs).unref()
}

/** Throws when Postgres does not respond. */
async function listBackends(options: pg.PoolOptions) {
  const client = new DatabaseClient({
    ...options,
    connectionTimeoutMillis: maxResponseMs,
    query_timeout: maxResponseMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    if (await isPooled(client)) return () => true
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity')
    const known = new Set(rows.map(({ pid }) => pid))
    return (one: pg.ClientBase) => known.has(getBackendId(one) ?? 0)
  } finally {
    void client.end()
  }
}
