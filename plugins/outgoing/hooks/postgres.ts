/**
 * Database function hooks: `pg-functions://<anything>/<schema>/<function>`. Functions run on a separate pool, so that a
 * slow one does not block requests without hooks. The statement, its timeout and its transaction travel in one round
 * trip (the pipeline mode of pg).
 */
import { createHash } from 'node:crypto'

import pg from 'pg'

import {
  databaseUnavailable,
  hookFailed,
  hookFunctionLost,
  hookFunctionTimeout,
  hookRejected,
  hookUnreachable,
} from '../../../schemas/errors.ts'
import { endDeadConnections } from '../../database/pool/dead-connections.ts'
import { closeReadOnlyConnections } from '../../database/pool/index.ts'
import type { Transport } from './caller.ts'

/** Maximum duration of a function. */
const timeoutMs = 2_000
/** How long a call waits for a connection. */
const waitMs = 3_000

export interface FunctionHooks {
  transport(uri: string): Transport
  close(): Promise<void>
}

/** The maximum connections of the function pool: half of the request pool's. */
export function functionPoolSize(ofRequests: number): number {
  return Math.max(2, Math.ceil(ofRequests / 2))
}

/** Connects on demand. */
export function createFunctionHooks(options: pg.PoolConfig, usesNames: boolean): FunctionHooks {
  const max = functionPoolSize(options.max ?? 10)
  const pool = new pg.Pool({ ...options, max, connectionTimeoutMillis: waitMs, pipeline: true })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  closeReadOnlyConnections(pool)
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

/** The function's quoted name. */
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
  if (begin.status === 'rejected') throw toLostOrRejected(begin.reason)
  if (result.status === 'rejected') throw toHookError(result.reason)
  if (commit.status === 'rejected') throw toLostOrRejected(commit.reason)
  return parseHookResponse(result.value.rows[0]?.answer)
}

/** A void function returns an empty text. */
function parseHookResponse(answer: unknown): unknown {
  return answer === '' || answer === null ? undefined : answer
}

/** An error from Postgres means that the work was rolled back; without a response the outcome is unknown. */
function toLostOrRejected(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? databaseUnavailable(error) : hookFunctionLost(error)
}

/** SQLSTATEs of a stopping server and of limits that close the connection: the work is rolled back. */
const endedConnection = /^(57P|25P0[34])/

/** Errors that the function raises deliberately are for the client; all others are logged. */
function toHookError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return hookFunctionLost(error)
  const { code = '', message } = error
  if (code === '57014') return hookFunctionTimeout(error)
  if (endedConnection.test(code)) return databaseUnavailable(error)
  const status = /^PT([45]\d\d)$/.exec(code)?.[1]
  if (status || code === 'P0001') return hookRejected(Number(status ?? 500), message, error)
  if (/^(42883|3F000|42501)$/.test(code)) return hookUnreachable(error)
  return hookFailed(error)
}
