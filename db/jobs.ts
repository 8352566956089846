/**
 * Work for later: rows of graphile-worker, made by its own SQL function, so that a job exists
 * exactly when the transaction that asked for it commits.
 */
import { type Expression, isExpression, type RawBuilder, sql } from 'kysely'

import type { Db } from './database.ts'

export interface NewJob {
  task: string
  /** JSON, or an SQL expression of type json. */
  payload: object | Expression<unknown>
  /** A job that waits under this key is replaced. */
  jobKey?: string | Expression<string>
  /** 25 when absent. */
  maxAttempts?: number
  /** How long it waits, by the clock of the database, which is the one that says when it is due. Not at all when absent. */
  delayMs?: number
  /** A waiting job under the key keeps its time. */
  keepRunAt?: boolean
  /** No job has had this key before, so none is looked for, which takes half of the time. */
  isFirst?: boolean
}

/** The call that adds a job, for a statement that does more; `schema` is the queue's own. */
export function addJobCall(schema: string, job: NewJob): RawBuilder<unknown> {
  const payload = isExpression(job.payload)
    ? job.payload
    : sql`${JSON.stringify(job.payload)}::json`
  return sql`${sql.id(schema, 'add_job')}(
    identifier => ${job.task}::text,
    payload => ${payload},
    run_at => now() + make_interval(secs => ${job.delayMs ?? null}::float8 / 1000),
    max_attempts => ${job.maxAttempts ?? null}::integer,
    job_key => ${job.jobKey ?? null}::text,
    job_key_mode => ${keyMode(job)}::text
  )`
}

function keyMode({ isFirst, keepRunAt }: NewJob): string {
  if (isFirst) return 'unsafe_dedupe'
  return keepRunAt ? 'preserve_run_at' : 'replace'
}

/** Inside a transaction the job exists when that commits, and never when it does not. */
export async function insertJob(db: Db, schema: string, job: NewJob): Promise<void> {
  await sql`select ${addJobCall(schema, job)}`.execute(db)
}
