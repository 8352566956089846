/** Mail that is given up, and its event, which is written by the same statement. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import type { Attempt, MailOutcome } from './mail-messages.ts'

/** A building block for a statement whose expression `dead` has the id, the kind and the reason of each. */
export function deadMailEvents(
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  isTold: boolean,
  now: Date,
) {
  return db
    .insertInto('postern_event_inbox')
    .columns(['id', 'type', 'user_id', 'data', 'created_at'])
    .expression(
      sql`select gen_random_uuid(), 'mail.dead', null,
          jsonb_build_object('message_id', dead.id, 'kind', dead.kind, 'reason', coalesce(dead.reason, '')),
          ${now}::timestamptz
        from dead where ${isTold}::boolean`,
    )
}

export interface DeadLetter {
  reason: string
  /** How its last attempt ended, if there was one. */
  outcome: MailOutcome | null
  /** A dead letter that may be sent again keeps what it was about to say. */
  keepPayload: boolean
  /** Events are on: this is one. */
  isTold: boolean
}

export async function markMailDead(
  db: Db,
  attempt: Attempt,
  { reason, outcome, keepPayload, isTold }: DeadLetter,
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
    .with('told', (cte) => deadMailEvents(cte, isTold, now))
    .selectFrom('dead')
    .select('dead.id')
    .execute()
}
