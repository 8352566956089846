/** One replica: its connections, and the age of its data. */
import type { FastifyBaseLogger } from 'fastify'
import { type Dialect, Kysely } from 'kysely'
import type pg from 'pg'

import type { Database, Db } from '../../../db/core/database.ts'
import { createPool } from '../pool/index.ts'
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

interface Recorded {
  /** The time of the record (`performance.now()`): the position contains every write acknowledged before. */
  at: number
  position: bigint
}

/** Half an hour at the longest interval. Without older ones a replica counts as older than it is. */
const maxRecorded = 1_000

export type Positions = ReturnType<typeof createPositions>

/**
 * Determines how old the data of a replica is: positions of the primary's log are recorded with their times, and the
 * newest one that the replica has replayed gives its age. An idle primary causes no lag, and clocks of other machines
 * do not matter.
 */
export function createPositions() {
  const recorded: Recorded[] = []
  return {
    record(entry: Recorded): void {
      recorded.push(entry)
      if (recorded.length > maxRecorded) recorded.shift()
    },

    /** A replica that has replayed this position shows every write acknowledged before the returned time. */
    findTime(replayed: bigint): number | undefined {
      return recorded.findLast(({ position }) => position <= replayed)?.at
    },
  }
}

/** Parses a pg_lsn, such as `16/B374D848`; null is before all others. */
export function parsePosition(text: string | null): bigint {
  const [high = '', low = ''] = (text ?? '0/0').split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
