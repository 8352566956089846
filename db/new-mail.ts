/** Mail that is added to what waits, in the transaction of the change that causes it. */
import type { Expression, RawBuilder } from 'kysely'

import type { QueuedMail } from './mail-messages.ts'
import { preparedUnawaited, type ValueOf } from './prepared-statement.ts'

interface NewMail extends QueuedMail {
  user_id: string
  locale: string
  now: Date
}

const newRow = (value: ValueOf<NewMail>) => ({
  id: value('id'),
  kind: value('kind'),
  payload: value('payload'),
  expires_at: value('expires_at'),
  state: 'queued' as const,
  attempts: 0,
  reason: null,
  created_at: value('now'),
  updated_at: value('now'),
  sent_at: null,
  user_id: value('user_id'),
  locale: value('locale'),
  outcome: null,
  response: null,
})

/** Adds a message that this process will try to send by itself; `restoreMailJobs` finds it when it does not. */
export const insertMail = preparedUnawaited((db, value: ValueOf<NewMail>) =>
  db.insertInto('postern_mail_messages').values(newRow(value)),
)

interface InsertionWithJob extends NewMail {
  /** What the job says of the request that caused it. */
  origin: string | null
}

/** Makes the statement that adds a message and the job that sends it, in one round trip. */
export function mailInsertionWithJob(
  jobOf: (
    id: Expression<string>,
    options: { origin: Expression<string | null>; isFirst: true },
  ) => RawBuilder<unknown>,
) {
  return preparedUnawaited((db, value: ValueOf<InsertionWithJob>) =>
    db
      .with('message', (cte) =>
        cte.insertInto('postern_mail_messages').values(newRow(value)).returning('id'),
      )
      .selectFrom('message')
      .select((eb) =>
        jobOf(eb.ref('message.id'), { origin: value('origin'), isFirst: true }).as('job'),
      ),
  )
}
