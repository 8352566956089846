/**
 * A hook that is a function of the database: `pg-functions://<anything>/<schema>/<function>`. Functions are called over
 * connections of their own, so that a slow one takes none from requests that need no hook. The statement, its time limit
 * and the transaction around both travel in one round trip (the pipeline mode of pg).
 */
import { createHash } from 'node:crypto'

import pg from 'pg'

import {
  databaseUnavailable,
  hookFailed,
  hookFunctionLost,
  hookFunctionTimeout,
  hookRefused,
  hookUnreachable,
} from '../../errors.ts'
import { endDeadConnections } from '../pool/dead-connections.ts'
import { leaveReplicas } from '../pool.ts'
import type { Transport } from './transport.ts'

/** Longest run of a function. */
const timeoutMs = 2_000
/** How long a call waits for a connection while others are running. */
const waitMs = 3_000

export interface FunctionHooks {
  transport(uri: string): Transport
  close(): Promise<void>
}

/** The most connections that functions have, beside so many of the requests: half as many. */
export function functionPoolSize(ofRequests: number): number {
  return Math.max(2, Math.ceil(ofRequests / 2))
}

/** Connections are made when they are needed. */
export function createFunctionHooks(options: pg.PoolConfig, usesNames: boolean): FunctionHooks {
  const max = functionPoolSize(options.max ?? 10)
  const pool = new pg.Pool({ ...options, max, connectionTimeoutMillis: waitMs, pipeline: true })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  leaveReplicas(pool)
  endDeadConnections(pool)
  return {
    transport(uri) {
      const name = functionIn(uri)
      const statement = {
        text: `select ${name}($1) as answer`,
        ...(usesNames && { name: createHash('sha256').update(name).digest('base64url') }),
      }
      return (body) => call(pool, { ...statement, values: [body] })
    },
    close: () => pool.end(),
  }
}

/** The quoted name of the function. */
function functionIn(uri: string): string {
  const [schema = '', name = ''] = new URL(uri).pathname.slice(1).split('/').map(decodeURIComponent)
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`
}

async function call(pool: pg.Pool, statement: pg.QueryConfig): Promise<unknown> {
  const client = await pool.connect().catch((error: Error) => {
    const isLate = error.message.startsWith('timeout exceeded')
    throw isLate ? hookFunctionTimeout(error) : databaseUnavailable(error)
  })
  const begun = client.query(`begin; set local statement_timeout = ${timeoutMs}`)
  const answered = client.query<{ answer: unknown }>(statement)
  const committed = client.query('commit')
  const [begin, result, commit] = await Promise.allSettled([begun, answered, committed])
  const isBroken = begin.status === 'rejected' || commit.status === 'rejected'
  client.release(isBroken)
  if (begin.status === 'rejected') throw lostOrRefused(begin.reason)
  if (result.status === 'rejected') throw toHookError(result.reason)
  if (commit.status === 'rejected') throw lostOrRefused(commit.reason)
  return readAnswer(result.value.rows[0]?.answer)
}

/** void is an empty text. */
function readAnswer(answer: unknown): unknown {
  return answer === '' || answer === null ? undefined : answer
}

/** What Postgres complains of was not done; of what it does not answer, nobody knows. */
function lostOrRefused(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? databaseUnavailable(error) : hookFunctionLost(error)
}

/** SQLSTATE of a server that stops, and of a login's limits that cost the connection: what was begun is undone. */
const endedConnection = /^(57P|25P0[34])/

/** What a function raises on purpose is for the client; every other complaint of the database is for the log. */
function toHookError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return hookFunctionLost(error)
  const { code = '', message } = error
  if (code === '57014') return hookFunctionTimeout(error)
  if (endedConnection.test(code)) return databaseUnavailable(error)
  const status = /^PT([45]\d\d)$/.exec(code)?.[1]
  if (status || code === 'P0001') return hookRefused(Number(status ?? 500), message, error)
  if (/^(42883|3F000|42501)$/.test(code)) return hookUnreachable(error)
  return hookFailed(error)
}
