/** Queues emails in the transaction of the change that causes them. */
import type { Expression, RawBuilder } from 'kysely'

import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { QueuedEmailRow } from './messages.ts'

interface NewMail extends QueuedEmailRow {
  /** Null for a recipient without an account. */
  user_id: string | null
  locale: string
  now: Date
}

const newRow = (value: ParamOf<NewMail>) => ({
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

/**
 * Inserts a message that this process attempts to send after the commit. If it does not, `restoreMailJobs` creates a
 * job for it.
 */
export const insertEmail = executePipelined((db, value: ParamOf<NewMail>) =>
  db.insertInto('postern_mail_messages').values(newRow(value)),
)

interface InsertionWithJob extends NewMail {
  /** The trace context of the request, for the job. */
  origin: string | null
}

/** Builds the statement that inserts a message and its job in one round trip. */
export function mailInsertionWithJob(
  addJob: (
    id: Expression<string>,
    options: { origin: Expression<string | null>; isFirst: true },
  ) => RawBuilder<unknown>,
) {
  return executePipelined((db, value: ParamOf<InsertionWithJob>) =>
    db
      .with('message', (cte) =>
        cte.insertInto('postern_mail_messages').values(newRow(value)).returning('id'),
      )
      .selectFrom('message')
      .select((eb) =>
        addJob(eb.ref('message.id'), { origin: value('origin'), isFirst: true }).as('job'),
      ),
  )
}
