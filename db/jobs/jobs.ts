/** Adds jobs to graphile-worker by its SQL function, so that a job exists exactly when its transaction commits. */
import { type Expression, isExpression, type RawBuilder, sql } from 'kysely'

import type { Db } from '../core/database.ts'

export interface NewJob {
  task: string
  /** JSON, or an SQL expression of type json. */
  payload: object | Expression<unknown>
  /** Replaces a waiting job with the same key. */
  jobKey?: string | Expression<string>
  /** 25 when absent. */
  maxAttempts?: number
  /** Delay in milliseconds, by the clock of the database; 0 when absent. */
  delayMs?: number
  /** Keep the run time of a waiting job with the same key. */
  keepRunAt?: boolean
  /** The key is new, so that no job is looked up: half the time. */
  isFirst?: boolean
}

/** The SQL call that adds a job, for a larger statement; `schema` is that of the queue. */
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

/** Adds a job. Inside a transaction it exists only if that commits. */
export async function insertJob(db: Db, schema: string, job: NewJob): Promise<void> {
  await sql`select ${addJobCall(schema, job)}`.execute(db)
}
