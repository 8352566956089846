import { sql } from 'kysely'

import type { Db } from './database.ts'

/** What is not done yet of one kind of job. */
export interface JobBacklog {
  task: string
  waiting: number
  /** Given up after their last attempt. */
  failed: number
  /** Seconds for which the oldest that is due has waited. */
  overdue: number
}

/**
 * A job that another of its key took the place of while it was being done has no attempts left, and no error either: it did
 * not fail. `schema` is the queue's own; its view is the library's documented way to look at jobs.
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
