/** Maintenance of the email outbox: recovery after crashes, and deletion of old rows. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { deadLetterEvents } from '../emails/dead-letters.ts'
import type { MailJobCall } from '../emails/messages.ts'

/** Moves messages to the dead letters whose process ended between lease and outcome: their delivery is unknown. */
export function markAbandonedMailDead(
  db: Db,
  claimedBefore: Date,
  { reason, emitEvent }: { reason: string; emitEvent: boolean },
  now: Date,
): Promise<{ id: string; kind: string }[]> {
  return db
    .with('dead', (cte) =>
      cte
        .updateTable('postern_mail_messages')
        .set({ state: 'dead', reason, outcome: 'ambiguous', updated_at: now })
        .where('state', '=', 'sending')
        .where('updated_at', '<', claimedBefore)
        .returning(['id', 'kind', 'reason']),
    )
    .with('told', (cte) => deadLetterEvents(cte, emitEvent, now))
    .selectFrom('dead')
    .select(['dead.id', 'dead.kind'])
    .execute()
}

interface Overdue {
  /** For messages without an attempt. */
  newBefore: Date
  /** For messages that wait for their next attempt. */
  waitingBefore: Date
  limit: number
}

/** Creates jobs for queued messages whose first attempt, or whose job, was lost with its process. */
export async function restoreMailJobs(
  db: Db,
  overdue: Overdue,
  addJob: MailJobCall,
): Promise<void> {
  await db
    .selectFrom((eb) =>
      eb
        .selectFrom('postern_mail_messages')
        .select('id')
        .where('state', '=', 'queued')
        .where('updated_at', '<', overdue.newBefore)
        .where((eb) =>
          eb.or([eb('attempts', '=', 0), eb('updated_at', '<', overdue.waitingBefore)]),
        )
        .orderBy('created_at')
        .limit(overdue.limit)
        .as('message'),
    )
    .select((eb) => addJob(eb.ref('message.id')).as('job'))
    .execute()
}

/**
 * Deletes the oldest messages of one state, by postern_mail_messages_state_idx. Returns the number of deleted rows;
 * call it again while that equals `limit`.
 */
export function deleteOldMail(
  db: Db,
  state: 'sent' | 'dead',
  createdBefore: Date,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom('postern_mail_messages')
    .select('id')
    .where('state', '=', sql.lit(state))
    .where('created_at', '<', createdBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('postern_mail_messages').where('id', '=', whereChosen(old, limit)))
}
