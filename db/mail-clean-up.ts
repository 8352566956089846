/** What happens to queued mail without anybody asking: recovery after crashes, and removal of old rows. */
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

/** Gives waiting messages a job again when theirs was lost with its worker. */
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

/** Returns how many rows went; called again until that is less than `limit`. */
export async function deleteOldMail(
  db: Db,
  before: { sent: Date; dead: Date },
  limit: number,
): Promise<number> {
  const deleted = await db
    .deleteFrom('postern_mail_messages')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('postern_mail_messages')
        .select('id')
        .where((old) =>
          old.or([
            old('state', '=', 'sent').and('created_at', '<', before.sent),
            old('state', '=', 'dead').and('created_at', '<', before.dead),
          ]),
        )
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(deleted.numDeletedRows)
}
