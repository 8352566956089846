/** What an operator does with mail that was not sent: look, send dead letters again, drop. */
import type { Db } from './database.ts'
import type { JobOf, MailMessagesTable } from './mail-messages.ts'

export type MailMessageRow = Pick<MailMessagesTable, (typeof columns)[number]>

const columns = [
  'id',
  'kind',
  'payload',
  'state',
  'attempts',
  'reason',
  'created_at',
  'updated_at',
  'expires_at',
] as const

/** All that has not been sent, oldest first. */
export function listUnsentMail(db: Db): Promise<MailMessageRow[]> {
  return db
    .selectFrom('postern_mail_messages')
    .select(columns)
    .where('state', '<>', 'sent')
    .orderBy('created_at')
    .execute()
}

export function findMail(db: Db, id: string): Promise<MailMessageRow | undefined> {
  return db
    .selectFrom('postern_mail_messages')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Back into the queue, with a job. False when it was not a dead letter any more. */
export async function requeueDeadMail(
  db: Db,
  id: string,
  jobOf: JobOf,
  now: Date,
): Promise<boolean> {
  const requeued = await db
    .with('message', (cte) =>
      cte
        .updateTable('postern_mail_messages')
        .set({ state: 'queued', reason: null, outcome: null, updated_at: now })
        .where('id', '=', id)
        .where('state', '=', 'dead')
        .returning('id'),
    )
    .selectFrom('message')
    .select((eb) => jobOf(eb.ref('message.id')).as('job'))
    .executeTakeFirst()
  return requeued !== undefined
}

/** False when there is none, or when it is being sent at this moment. */
export async function deleteMail(db: Db, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('postern_mail_messages')
    .where('id', '=', id)
    .where('state', '<>', 'sending')
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}
