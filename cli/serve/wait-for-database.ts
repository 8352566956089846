/** A server that is started together with its database comes up before it. */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { withClient } from '../with-client.ts'

const longestWaitMs = 30_000
const connectionTimeoutMillis = 5_000

/** Throws when the database has not come up after half a minute; at once for a wrong password, or where TLS fails. */
export async function waitForDatabase(
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const deadline = Date.now() + longestWaitMs
  let isTold = false
  for (;;) {
    try {
      return await withClient({ connectionString, connectionTimeoutMillis }, async () => {})
    } catch (error) {
      const isFinal = isRefusal(error) || isAboutEncryption(error)
      const isWorthWaiting = !isFinal && Date.now() < deadline
      if (!isWorthWaiting) throw unreachable(connectionString, error)
      if (!isTold) {
        log.warn(
          `the database ${placeOf(connectionString)} does not answer yet (${reasonOf(error)}); waiting`,
        )
      }
      isTold = true
      await pause(500)
    }
  }
}

/** Wrong password, missing role, missing database: waiting does not help (SQLSTATE 28, 3D). */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')
}

/** Postgres has no TLS, or a certificate that is not trusted for its host, in the words of pg and Node. */
function isAboutEncryption(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.message === 'The server does not support SSL connections') return true
  const code = 'code' in error ? String(error.code) : ''
  return /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}

/** Host and database, without who connects and how. */
function placeOf(connectionString: string): string {
  const url = URL.parse(connectionString)
  return url
    ? `${decodeURIComponent(url.pathname.slice(1))} on ${url.host || 'this machine'}`
    : 'of DATABASE_URL'
}

function reasonOf(error: unknown): string {
  // A host of several addresses refuses at each of them.
  const [first] = error instanceof AggregateError ? error.errors : []
  if (first !== undefined) return reasonOf(first)
  return error instanceof Error ? error.message || error.name : String(error)
}

function unreachable(connectionString: string, error: unknown): Error {
  const place = placeOf(connectionString)
  const remedy = isAboutEncryption(error)
    ? 'Look at sslmode in DATABASE_URL'
    : 'Check that it runs and that host, user, password and database name are right'
  return new Error(
    `The database of DATABASE_URL cannot be used: ${place}: ${reasonOf(error)}. ${remedy} (docs/errors.md).`,
  )
}
