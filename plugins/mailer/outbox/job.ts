import { type Expression, type RawBuilder, sql } from 'kysely'

import { addJobCall, type NewJob } from '../../../db/jobs.ts'

/** The task that sends one message. */
export const sendTask = 'send_mail'

/** Makes the call that adds the sending job of a message; one job waits per message at most. */
export type MailJobs = (id: Expression<string>, options?: JobOptions) => RawBuilder<unknown>

interface JobOptions extends Pick<NewJob, 'delayMs' | 'keepRunAt' | 'isFirst'> {
  /** In whose trace the mail is sent: text, or a place for it in a statement. */
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
