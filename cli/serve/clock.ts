/** Whether the clock of the database and ours agree: replicas compare what the others wrote down with their own. */
import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../plugins/config/config.ts'
import { withClient } from '../with-client.ts'

/** Two replicas that differ from it by less are within what is tolerated of tokens (plugins/jwt.ts). */
const mostSeconds = 2

/** Warns when they differ by more than seconds. */
export async function warnOfClock(
  { DATABASE_URL }: Pick<Config, 'DATABASE_URL'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const slip = await askForSlip(DATABASE_URL)
  if (Math.abs(slip) < mostSeconds) return
  log.warn(
    `${slipSentence(slip)} Between servers whose clocks differ, tokens are early or late, and a second tab may be taken for a thief (docs/sessions.md).`,
  )
}

/** What is wrong of a clock that is so many seconds ahead of ours. */
export function slipSentence(slip: number): string {
  const seconds = Math.abs(slip).toFixed(0)
  return `The clock of the database is ${seconds} s ${slip > 0 ? 'ahead of' : 'behind'} ours: run NTP on both machines.`
}

/** Seconds by which the clock of the database is ahead of ours. */
async function askForSlip(connectionString: string): Promise<number> {
  return withClient({ connectionString }, async (client) => {
    const before = Date.now()
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    )
    const middle = (before + Date.now()) / 2
    return ((rows[0]?.ms ?? middle) - middle) / 1000
  })
}
