/** Operator queries on unsent messages: list, requeue, delete. */
import type { Db } from '../core/database.ts'
import type { MailMessagesTable } from '../tables/emails.ts'
import type { MailJobCall } from './messages.ts'

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

/** Returns all unsent messages, oldest first. */
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

/** Requeues a dead letter with a job. Returns false when it is no dead letter any more. */
export async function requeueDeadMail(
  db: Db,
  id: string,
  addJob: MailJobCall,
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
    .select((eb) => addJob(eb.ref('message.id')).as('job'))
    .executeTakeFirst()
  return requeued !== undefined
}

/** Returns false when there is no such message, or when it is being sent. */
export async function deleteMail(db: Db, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('postern_mail_messages')
    .where('id', '=', id)
    .where('state', '<>', 'sending')
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}
