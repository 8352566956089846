/** Waits for a database that starts at the same time as the server. */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { withClient } from './with-client.ts'

const maxWaitMs = 30_000
const connectionTimeoutMillis = 5_000

/** Throws after half a minute; at once for a wrong password, or a TLS error. */
export async function waitForDatabase(
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const deadline = Date.now() + maxWaitMs
  let emitEvent = false
  for (;;) {
    try {
      return await withClient({ connectionString, connectionTimeoutMillis }, async () => {})
    } catch (error) {
      const isFinal = isLoginRejected(error) || isAboutEncryption(error)
      const isWorthWaiting = !isFinal && Date.now() < deadline
      if (!isWorthWaiting) throw unreachable(connectionString, error)
      if (!emitEvent) {
        log.warn(
          `the database ${placeOf(connectionString)} does not respond yet (${reasonOf(error)}); waiting`,
        )
      }
      emitEvent = true
      await pause(500)
    }
  }
}

/** Wrong password, missing role or database (SQLSTATE 28, 3D): retrying does not help. */
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
function placeOf(connectionString: string): string {
  const url = URL.parse(connectionString)
  return url
    ? `${decodeURIComponent(url.pathname.slice(1))} on ${url.host || 'this machine'}`
    : 'of DATABASE_URL'
}

function reasonOf(error: unknown): string {
  // A host with several addresses fails with an error for each.
  const [first] = error instanceof AggregateError ? error.errors : []
  if (first !== undefined) return reasonOf(first)
  return error instanceof Error ? error.message || error.name : String(error)
}

function unreachable(connectionString: string, error: unknown): Error {
  const place = placeOf(connectionString)
  const hint = isAboutEncryption(error)
    ? 'Check sslmode in DATABASE_URL'
    : 'Check that it runs and that host, user, password and database name are correct'
  return new Error(
    `The database of DATABASE_URL cannot be used: ${place}: ${reasonOf(error)}. ${hint} (docs/errors.md).`,
  )
}
