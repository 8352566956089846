/** Jobs of graphile-worker: adding them by its SQL function, counting them, and the schema of the queue. */
import { type Expression, isExpression, type Kysely, type RawBuilder, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { assertUsableDatabase, findMissingQueueSchema } from '../core/requirements.ts'
import { hasTable } from '../gotrue/database.ts'

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

/** Unfinished jobs of one task. */
export interface JobBacklog {
  task: string
  waiting: number
  /** Failed permanently. */
  failed: number
  /** Seconds since the oldest due job became due. */
  overdue: number
}

/**
 * A job that was replaced under its key while it ran has no attempts left but no error: it did not fail. `schema` is
 * that of the queue; its view is the library's documented interface.
 */
export async function findJobBacklog(db: Db, schema: string): Promise<JobBacklog[]> {
  const { rows } = await sql<JobBacklog>`
    select task_identifier as task,
      (count(*) filter (where attempts < max_attempts))::integer as waiting,
      (count(*) filter (
        where attempts >= max_attempts and (last_error is not null or max_attempts = 1)
      ))::integer as failed,
      coalesce(extract(epoch from now() - min(run_at) filter (
        where attempts < max_attempts and locked_at is null and run_at < now()
      )), 0)::float8 as overdue
    from ${sql.table(`${schema}.jobs`)}
    group by task_identifier`.execute(db)
  return rows
}

/**
 * graphile-worker runs `create schema if not exists`, which requires the privilege even if the schema exists. In a
 * schema created for this login, its first table is created here instead. Throws UnusableDatabaseError.
 */
export async function prepareQueueSchema(db: Kysely<unknown>, schema: string): Promise<void> {
  if (await hasTable(db, schema, 'migrations')) return
  assertUsableDatabase(await findMissingQueueSchema(db, schema))
  const { rows } = await sql<{ creates: boolean }>`
    select has_database_privilege(current_database(), 'create') as creates`.execute(db)
  if (rows[0]?.creates) return
  await createFirstTable(db, schema).catch(async (error) => {
    // Another replica may have created it since.
    if (!(await hasTable(db, schema, 'migrations'))) throw error
  })
}

async function createFirstTable(db: Kysely<unknown>, schema: string): Promise<void> {
  await sql`create table ${sql.id(schema, 'migrations')} (
    id int primary key, ts timestamptz not null default now(), breaking boolean not null default false
  )`.execute(db)
}
