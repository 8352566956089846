/** Builds our indexes concurrently with traffic. */
import { setTimeout as pause } from 'node:timers/promises'

import { sql } from 'kysely'

import { describeActivity, describeWait, retryOnLockConflict, type Waiting } from './apply.ts'
import {
  type BuildStatement,
  buildIndex,
  dropIndex,
  type IndexScope,
  missingIndexes,
  unusedIndexes,
} from './indexes.ts'

const pollIntervalMs = 1_000
/** The first check that finds a blocking transaction logs it, then every tenth. */
const pollsBetweenLines = 10

/** Drops those that the configuration does not need. Throws an Error that names the blocking transactions when they last too long. */
export async function buildIndexes(waiting: Waiting & IndexScope): Promise<void> {
  const { db, schema, log } = waiting
  const missing = await missingIndexes(db, waiting)
  for (const [position, index] of missing.entries()) {
    const run = (statement: BuildStatement) => runWatched(waiting, index.name, statement)
    await retryOnLockConflict(waiting, index.name, () => buildIndex(db, schema, index, run))
    log.info(`Built the index ${index.name} (${position + 1} of ${missing.length})`)
  }
  for (const name of await unusedIndexes(db, waiting)) {
    const run = (statement: BuildStatement) => runWatched(waiting, name, statement)
    await retryOnLockConflict(waiting, name, () => dropIndex(db, schema, name, run))
    log.info(`Dropped the index ${name}`)
  }
}

/**
 * Runs `create index concurrently`, which blocks no other transaction, but waits for every transaction that was open at
 * its start. It is restarted only if needed, because that repeats all its work.
 */
async function runWatched(
  waiting: Waiting,
  what: string,
  statement: BuildStatement,
): Promise<void> {
  const ended = new AbortController()
  const watch = watchBlockers(waiting, what, statement.text, ended.signal)
  let failure: unknown
  try {
    await statement.execute()
  } catch (error) {
    failure = error
  } finally {
    ended.abort()
  }
  const gaveUp = await watch
  if (gaveUp !== undefined && failure !== undefined) throw new Error(gaveUp, { cause: failure })
  if (failure !== undefined) throw (await explainTimeout(waiting, what, failure)) ?? failure
}

/** The statement timeout of the login ended the build: the error explains what to do. */
async function explainTimeout(
  { db }: Waiting,
  what: string,
  failure: unknown,
): Promise<Error | undefined> {
  const isEnded = failure instanceof Error && 'code' in failure && failure.code === '57014'
  if (!isEnded) return undefined
  const { rows } = await sql<{ login: string; limit: string }>`
    select quote_ident(current_user) as login, current_setting('statement_timeout') as "limit"
  `.execute(db)
  const [{ login, limit } = { login: '', limit: '0' }] = rows
  if (limit === '0') return undefined
  return new Error(
    `${what} takes longer to build than the statement_timeout of this login (${limit}). ` +
      `Run alter role ${login} set statement_timeout = 0; and start again, then set it as it was.`,
    { cause: failure },
  )
}

/**
 * Logs from time to time which transactions the statement waits for. Cancels it after the time limit and returns the
 * sentence for the error.
 */
async function watchBlockers(
  waiting: Waiting,
  what: string,
  text: string,
  ended: AbortSignal,
): Promise<string | undefined> {
  const { log, maxWaitMs } = waiting
  let waitingSince: number | undefined
  for (let looks = 0; ; looks++) {
    await pause(pollIntervalMs, undefined, { signal: ended }).catch(() => {})
    if (ended.aborted) return undefined
    const found = await findBlockingHolders(waiting, text)
    if (!found) {
      waitingSince = undefined
      looks = -1
      continue
    }
    waitingSince ??= Date.now()
    const sentence = describeWait(what, text, found.holders)
    if (Date.now() - waitingSince > maxWaitMs) {
      await sql`select pg_cancel_backend(${found.pid})`.execute(waiting.db)
      return `${sentence} It was given up; start again.`
    }
    if (looks % pollsBetweenLines === 0) log.info(sentence)
  }
}

/** Returns the transactions that block the connection with this statement, or undefined. */
async function findBlockingHolders({ db }: Waiting, text: string) {
  const { rows } = await sql<{ pid: number; holder: string }>`
    select waiting.pid, ${describeActivity('holding')} as holder
    from pg_stat_activity waiting
    join pg_stat_activity holding on holding.pid = any(pg_blocking_pids(waiting.pid))
    where waiting.datname = current_database() and waiting.state = 'active'
      and waiting.query = ${text} and waiting.wait_event_type = 'Lock'
    order by holding.xact_start limit 3
  `.execute(db)
  const [first] = rows
  return first && { pid: first.pid, holders: rows.map(({ holder }) => holder) }
}
