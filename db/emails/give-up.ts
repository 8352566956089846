/** Moves messages to the dead letters and inserts their events in the same statement. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import type { SendResult } from '../tables/emails.ts'
import type { EmailAttempt } from './messages.ts'

/** The insert as a CTE, for a statement whose CTE `dead` has the id, kind and reason of each message. */
export function deadLetterEvents(
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  emitEvent: boolean,
  now: Date,
) {
  return db
    .insertInto('postern_event_inbox')
    .columns(['id', 'type', 'user_id', 'data', 'created_at'])
    .expression(
      sql`select gen_random_uuid(), 'email.dead_lettered', null,
          jsonb_build_object('message_id', dead.id, 'kind', dead.kind, 'reason', coalesce(dead.reason, '')),
          ${now}::timestamptz
        from dead where ${emitEvent}::boolean`,
    )
}

interface DeadLetter {
  reason: string
  /** The result of the last attempt, if there was one. */
  outcome: SendResult | null
  /** Keep the payload, so that the dead letter can be sent again. */
  keepPayload: boolean
  /** Insert an event: set when events are enabled. */
  emitEvent: boolean
}

export async function moveToDeadLetter(
  db: Db,
  attempt: EmailAttempt,
  { reason, outcome, keepPayload, emitEvent }: DeadLetter,
  now: Date,
): Promise<void> {
  await db
    .with('dead', (cte) =>
      cte
        .updateTable('postern_mail_messages')
        .set({
          state: 'dead',
          reason,
          outcome,
          updated_at: now,
          ...(!keepPayload && { payload: '' }),
        })
        .where('id', '=', attempt.id)
        .where('attempts', '=', attempt.attempts)
        .where('state', 'in', ['queued', 'sending'])
        .returning(['id', 'kind', 'reason']),
    )
    .with('told', (cte) => deadLetterEvents(cte, emitEvent, now))
    .selectFrom('dead')
    .select('dead.id')
    .execute()
}
