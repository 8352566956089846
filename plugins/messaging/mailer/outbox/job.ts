import { type Expression, type RawBuilder, sql } from 'kysely'

import { addJobCall, type NewJob } from '../../../../db/jobs/jobs.ts'

/** The task that sends one message. */
export const sendTask = 'send_mail'

/** Builds the statement that adds a message's send job; at most one job per message is queued. */
export type MailJobs = (id: Expression<string>, options?: JobOptions) => RawBuilder<unknown>

interface JobOptions extends Pick<NewJob, 'delayMs' | 'keepRunAt' | 'isFirst'> {
  /** The trace context of the email: a value, or a placeholder in a statement. */
  origin?: Expression<string | null> | string | undefined
}

export function createMailJobs(schema: string): MailJobs {
  return (id, { origin, ...timing } = {}) =>
    addJobCall(schema, {
      task: sendTask,
      payload: sql`json_strip_nulls(json_build_object('id', ${id}, 'origin', ${origin ?? null}::text))`,
      jobKey: sql<string>`'mail:' || ${id}`,
      ...timing,
    })
}
