/** Compares the clock with that of the database: replicas compare stored times with their own clock. */
import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../config/groups/index.ts'
import { withClient } from './with-client.ts'

/** Twice the difference is within the tolerance for tokens (plugins/security/jwt/index.ts). */
const maxSkewSeconds = 2

/** Logs a warning above two seconds. */
export async function warnOfClock(
  { DATABASE_URL }: Pick<Config, 'DATABASE_URL'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const skewSeconds = await measureSkew(DATABASE_URL)
  if (Math.abs(skewSeconds) < maxSkewSeconds) return
  log.warn(
    `${clockSkewMessage(skewSeconds)} With different clocks, tokens are valid too early or too late, and a parallel refresh may revoke the session (docs/sessions.md).`,
  )
}

/** Describes a clock that is this many seconds ahead. */
export function clockSkewMessage(skewSeconds: number): string {
  const seconds = Math.abs(skewSeconds).toFixed(0)
  return `The clock of the database is ${seconds} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} this server: run NTP on both machines.`
}

/** Returns the seconds by which the database's clock is ahead. */
async function measureSkew(connectionString: string): Promise<number> {
  return withClient({ connectionString }, async (client) => {
    const before = Date.now()
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    )
    const middle = (before + Date.now()) / 2
    return ((rows[0]?.ms ?? middle) - middle) / 1000
  })
}
