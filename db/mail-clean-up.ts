/** What happens to queued mail without anybody asking: recovery after crashes, and removal of old rows. */
import { sql } from 'kysely'

import { chosen, count } from './clean-up.ts'
import type { Db } from './database.ts'
import { deadMailEvents } from './dead-mail.ts'
import type { JobOf } from './mail-messages.ts'

/** Messages whose process died between the claim and the outcome: nobody knows whether they went out. */
export function markAbandonedMailDead(
  db: Db,
  claimedBefore: Date,
  { reason, isTold }: { reason: string; isTold: boolean },
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
    .with('told', (cte) => deadMailEvents(cte, isTold, now))
    .selectFrom('dead')
    .select(['dead.id', 'dead.kind'])
    .execute()
}

export interface Overdue {
  /** For messages that nobody has tried yet. */
  newBefore: Date
  /** For messages that wait for their next attempt. */
  waitingBefore: Date
  limit: number
}

/** Gives waiting messages a job when their first attempt, or the job they had, was lost with its process. */
export async function restoreMailJobs(db: Db, overdue: Overdue, jobOf: JobOf): Promise<void> {
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
    .select((eb) => jobOf(eb.ref('message.id')).as('job'))
    .execute()
}

/**
 * The oldest of one state, by postern_mail_messages_state_idx. Returns how many rows went; called again until that is less
 * than `limit`.
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
  return count(db.deleteFrom('postern_mail_messages').where('id', '=', chosen(old, limit)))
}
