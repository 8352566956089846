import { sql } from 'kysely'

import type { Db } from '../core/database.ts'

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
