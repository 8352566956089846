/**
 * Applies migrations during traffic: a statement that meets a lock is rolled back and retried, so that requests do not
 * queue behind it.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { sql } from 'kysely'

import type { MigrationConnections } from './migration-db.ts'

export interface Waiting extends MigrationConnections {
  schema: string
  /** How long the same lock is retried, in milliseconds. */
  maxWaitMs: number
  log: { info(message: string): void }
}

/**
 * Retries with growing pauses after lock conflicts, and logs from time to time which statement waits for which
 * transactions. Throws an Error with the same text after the time limit.
 */
export async function retryOnLockConflict(
  waiting: Waiting,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + waiting.maxWaitMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockConflict(error)) throw error
      const statement = waiting.lastFailed().text
      const isOver = Date.now() > deadline
      if (isOver || attempt % 10 === 0) {
        const sentence = describeWait(what, statement, await holders(waiting))
        if (isOver) {
          throw new Error(`${sentence} Nothing was changed: start again.`, { cause: error })
        }
        waiting.log.info(sentence)
      }
    }
    await pause(Math.min(50 * attempt, 1_000) * (0.5 + Math.random()))
  }
}

export function describeWait(what: string, statement: string, holders: string[]): string {
  const who = holders.length > 0 ? holders.join('; ') : 'anyone who held the lock is gone by now'
  return `${what} waits to run "${statement}": ${who}.`
}

/** Names a row of pg_stat_activity, without its query text, which may hold user data. */
export function describeActivity(activity: string) {
  const column = (name: string) => sql.ref(`${activity}.${name}`)
  return sql<string>`format('process %s of %s (%s), %s for %s s', ${column('pid')}, ${column('usename')},
    coalesce(nullif(${column('application_name')}, ''), 'no name'), ${column('state')},
    extract(epoch from now() - ${column('xact_start')})::int)`
}

/** Names the oldest transactions with locks on our tables. */
async function holders({ db, schema }: Waiting): Promise<string[]> {
  const { rows } = await sql<{ holder: string }>`
    select ${describeActivity('activity')} as holder from pg_stat_activity activity
    where pid <> pg_backend_pid() and pid in (
      select pid from pg_locks
      join pg_class on pg_class.oid = relation and relnamespace = to_regnamespace(quote_ident(${schema}))
      where granted and database = (select oid from pg_database where datname = current_database())
    ) order by xact_start limit 3
  `.execute(db)
  return rows.map(({ holder }) => holder)
}

/** SQLSTATE lock_not_available, deadlock_detected. */
function isLockConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(`${error.code}`)
}
