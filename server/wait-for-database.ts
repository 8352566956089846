/** Waits for a database that starts at the same time as the server. */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { withClient } from './with-client.ts'

const maxWaitMs = 30_000
const connectionTimeoutMillis = 5_000

/**
 * Throws after half a minute; immediately for a wrong password or a TLS error. During a failover the database may be a
 * standby for some time; if it remains one, this is reported later with other unmet requirements.
 */
export async function waitForDatabase(
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const deadline = Date.now() + maxWaitMs
  const place = describeServer(connectionString)
  let isFirst = true
  for (;;) {
    const blocker = await findBlocker(connectionString)
    const isLate = Date.now() >= deadline
    if (blocker === undefined || (blocker === 'standby' && isLate)) return
    if (blocker !== 'standby' && (isFinal(blocker) || isLate)) {
      throw unreachable(connectionString, blocker)
    }
    if (isFirst) log.warn(`the database ${place} ${describeState(blocker)}; waiting`)
    isFirst = false
    await pause(500)
  }
}

/** Undefined when the database accepts writes; otherwise 'standby', or the error of connecting. */
async function findBlocker(connectionString: string): Promise<'standby' | undefined | Error> {
  try {
    return await withClient({ connectionString, connectionTimeoutMillis }, async (client) => {
      const { rows } = await client.query('select pg_is_in_recovery() as standby')
      return rows[0]?.standby === true ? 'standby' : undefined
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function describeState(blocker: 'standby' | Error): string {
  if (blocker === 'standby') return 'is a standby, which takes no writes'
  return `does not respond yet (${describeError(blocker)})`
}

/** Retrying does not help. */
function isFinal(error: Error): boolean {
  return isLoginRejected(error) || isAboutEncryption(error)
}

/** Wrong password, missing role or database (SQLSTATE 28, 3D). */
function isLoginRejected(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')
}

/** Postgres has no TLS, or an untrusted certificate, by the messages of pg and Node. */
function isAboutEncryption(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.message === 'The server does not support SSL connections') return true
  const code = 'code' in error ? String(error.code) : ''
  return /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}

/** Host and database, without credentials and parameters. */
function describeServer(connectionString: string): string {
  const url = URL.parse(connectionString)
  return url
    ? `${decodeURIComponent(url.pathname.slice(1))} on ${url.host || 'this machine'}`
    : 'of DATABASE_URL'
}

function describeError(error: unknown): string {
  // A host with several addresses fails with an error for each.
  const [first] = error instanceof AggregateError ? error.errors : []
  if (first !== undefined) return describeError(first)
  return error instanceof Error ? error.message || error.name : String(error)
}

function unreachable(connectionString: string, error: unknown): Error {
  const place = describeServer(connectionString)
  const hint = isAboutEncryption(error)
    ? 'Check sslmode in DATABASE_URL'
    : 'Check that it runs and that host, user, password and database name are correct'
  return new Error(
    `The database of DATABASE_URL cannot be used: ${place}: ${describeError(error)}. ${hint} (docs/errors.md).`,
  )
}
