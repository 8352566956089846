import { type Expression, type RawBuilder, sql } from 'kysely'

import { addJobCall, type NewJob } from '../../../db/jobs.ts'

/** The task that sends one message. */
export const sendTask = 'send_mail'

/** Makes the call that adds the sending job of a message; one job waits per message at most. */
export type MailJobs = (
  id: Expression<string>,
  timing?: Pick<NewJob, 'runAt' | 'keepRunAt'>,
) => RawBuilder<unknown>

export function createMailJobs(schema: string): MailJobs {
  return (id, timing = {}) =>
    addJobCall(schema, {
      task: sendTask,
      payload: sql`json_build_object('id', ${id})`,
      jobKey: sql<string>`'mail:' || ${id}`,
      ...timing,
    })
}
