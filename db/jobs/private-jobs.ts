/**
 * The only statements on a private table of graphile-worker, `_private_jobs`. Its API has nothing for them:
 *
 * - Renewing locks. The library never renews the lock of a running job and frees it after four hours only. A worker that
 *   renews its locks lets others free the jobs of a dead worker after less than a minute. Freeing them is the library's
 *   `forceUnlockWorkers` (plugins/background/job-queue/locks.ts).
 * - Releasing the jobs of a worker that ended while it still runs some of them. `forceUnlockWorkers` unlocks all jobs of a
 *   worker, `completeJobs` and `rescheduleJobs` change none that is locked, and none of them gives back an attempt.
 * - Counting encryption keys in payloads. The view `jobs` has no payload.
 *
 * test/architecture/private-tables.test.ts keeps them here.
 */
import { type RawBuilder, sql } from 'kysely'

/** A connection or pool of the queue, which is not that of the requests. */
interface Queryable {
  query(text: string, values: unknown[]): Promise<unknown>
}

/** Ids of a worker's jobs by their state. Jobs in none of the lists were not started. */
interface ReleasedJobs {
  worker: string
  succeeded: string[]
  failed: string[]
  /** They stay locked. */
  running: string[]
}

const quoteJobsTable = (schema: string) => `"${schema.replaceAll('"', '""')}"._private_jobs`

export async function renewLocks(queue: Queryable, schema: string, worker: string): Promise<void> {
  const table = quoteJobsTable(schema)
  await queue.query(`update ${table} set locked_at = now() where locked_by = $1`, [worker])
}

/** Deletes the jobs that succeeded and unlocks the others. A job that was not started gets its attempt back. */
export async function releaseJobs(
  queue: Queryable,
  schema: string,
  { worker, succeeded, failed, running }: ReleasedJobs,
): Promise<void> {
  const table = quoteJobsTable(schema)
  await queue.query(
    `with done as (delete from ${table} where locked_by = $1 and id = any($2::bigint[]))
     update ${table}
     set locked_by = null, locked_at = null, run_at = greatest(run_at, now()),
       attempts = case when id = any($3::bigint[]) then attempts else greatest(attempts - 1, 0) end
     where locked_by = $1 and id <> all($2::bigint[] || $4::bigint[])`,
    [worker, succeeded, failed, running],
  )
}

/** Rows `key_id`, `rows`: the number of waiting jobs with values encrypted under each key, by a pattern for its id. */
export function keysInPayloads(schema: string, keyId: string): RawBuilder<unknown> {
  return sql`select substring(payload::text from ${keyId}) as key_id, count(*)::int as rows
    from ${sql.id(schema, '_private_jobs')}
    where payload::text ~ ${keyId} and attempts < max_attempts group by 1`
}
