/** One replica: its connections, and the age of its data. */
import type { FastifyBaseLogger } from 'fastify'
import { type Dialect, Kysely } from 'kysely'
import type pg from 'pg'

import type { Database, Db } from '../../../db/core/database.ts'
import { createPool } from '../pool/index.ts'
import { type Positions, parsePosition } from './positions.ts'
import { findMismatch, readServerState, type ServerState } from './server-state.ts'

/** There are few reads that tolerate lag. */
const maxConnections = 5
/** Reads fall back to the primary after this time without a connection. */
const connectTimeoutMs = 2_000

interface ReplicaOptions {
  connectionString: string
  /** Its number in AUTH_DB_READ_URL, from 1. */
  name: string
  positions: Positions
  createDialect: (pool: pg.Pool) => Dialect
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

export interface Replica {
  name: string
  db: Db
  /** It shows every write acknowledged before this time (`performance.now()`); undefined when it cannot be used. */
  replayedAt(): number | undefined
  /** In the background, at most once at a time. */
  measure(primary: ServerState): void
  close(): Promise<void>
}

export function createReplica(options: ReplicaOptions): Replica {
  const { connectionString, name, positions, createDialect, log } = options
  const open = (max: number) => createPool({ connectionString, max, connectTimeoutMs, log })
  const [pool, measuring] = [open(maxConnections), open(1)]
  const endStatements = trackStatements(pool)
  let replayedAt: number | undefined
  let problem: string | undefined
  let running: Promise<void> | undefined

  function setProblem(found: string | undefined): void {
    if (found !== undefined) {
      replayedAt = undefined
      // Statements on a server that does not respond would wait; they are repeated on the primary.
      endStatements()
    }
    if (found === problem) return
    problem = found
    if (found === undefined) log.info(`read replica ${name} is used again`)
    else log.warn(`read replica ${name} is not used, reads go to the primary: ${found}`)
  }

  async function look(primary: ServerState): Promise<void> {
    try {
      const state = await readServerState(measuring)
      setProblem(findMismatch(primary, state))
      if (problem !== undefined) return
      replayedAt = positions.findTime(parsePosition(state.position)) ?? replayedAt
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }

  return {
    name,
    db: new Kysely<Database>({ dialect: createDialect(pool) }),
    replayedAt: () => replayedAt,
    measure(primary) {
      running ??= look(primary).finally(() => {
        running = undefined
      })
    },
    async close() {
      await running
      await Promise.all([pool.end(), measuring.end()])
    },
  }
}

/** Returns a function that closes the connections in use, so that their statements fail. */
function trackStatements(pool: pg.Pool): () => void {
  const inUse = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => inUse.add(client))
  pool.on('release', (_error, client) => inUse.delete(client))
  return () => {
    for (const client of inUse) client.connection.stream.destroy()
  }
}
