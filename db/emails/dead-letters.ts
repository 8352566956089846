/** Dead letters: moved with their events in one statement, listed, requeued and deleted by operators. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import type { MailMessagesTable, SendResult } from '../tables/messages.ts'
import type { EmailAttempt, MailJobCall } from './messages.ts'

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

/** The ids of the oldest dead letters, at most `most`. */
export function listDeadMail(db: Db, limit: number): Promise<MailMessagesTable[]> {
  return db
    .selectFrom('postern_mail_messages')
    .selectAll()
    .where('state', '=', 'dead')
    .orderBy('created_at')
    .limit(limit)
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
