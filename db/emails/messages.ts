/** The email outbox: each message is queued, leased to one attempt, and marked by its outcome. */
import type { Expression, RawBuilder } from 'kysely'

import type { Db } from '../core/database.ts'
import { executePipelined, type ParamOf, queryOne, queryOneBatched } from '../core/statement.ts'

interface QueuedEmailRow {
  id: string
  kind: string
  payload: string
  expires_at: Date | null
}

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

export interface WaitingMailMessage extends QueuedEmailRow {
  attempts: number
  created_at: Date
}

/** Builds the SQL call that adds the sending job of a message id. */
export type MailJobCall = (id: Expression<string>) => RawBuilder<unknown>

/** True when a message with this id was queued before, whatever its state. */
export async function hasMailMessage(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('postern_mail_messages')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

const findWaiting = queryOne((db, value: ParamOf<{ id: string }>) =>
  db
    .selectFrom('postern_mail_messages')
    .select(['id', 'kind', 'payload', 'attempts', 'created_at', 'expires_at'])
    .where('id', '=', value('id'))
    .where('state', '=', 'queued'),
)

/** Returns a message that is still queued. */
export function findQueuedEmail(db: Db, id: string): Promise<WaitingMailMessage | undefined> {
  return findWaiting(db, { id })
}

/** Identifies an attempt: an outcome must not overwrite that of a later attempt. */
export interface EmailAttempt {
  id: string
  attempts: number
}

const claim = queryOneBatched((db, value: ParamOf<EmailAttempt & { next: number; now: Date }>) =>
  db
    .updateTable('postern_mail_messages')
    .set({ state: 'sending', attempts: value('next'), updated_at: value('now') })
    .where('id', '=', value('id'))
    .where('attempts', '=', value('attempts'))
    .where('state', '=', 'queued')
    .returning(['id', 'attempts']),
)

/** Leases a queued message to one caller. The lease is committed before anything is sent. */
export function leaseEmail(
  db: Db,
  { id, attempts }: EmailAttempt,
  now: Date,
): Promise<EmailAttempt | undefined> {
  return claim(db, { id, attempts, next: attempts + 1, now })
}

const markSent = queryOneBatched(
  (db, value: ParamOf<EmailAttempt & { response: string; now: Date }>) =>
    db
      .updateTable('postern_mail_messages')
      .set({
        state: 'sent',
        payload: '',
        reason: null,
        outcome: 'sent',
        response: value('response'),
        updated_at: value('now'),
        sent_at: value('now'),
      })
      .where('id', '=', value('id'))
      .where('attempts', '=', value('attempts'))
      .where('state', 'in', ['sending', 'dead']),
)

/** Also overwrites a dead letter whose outcome was unknown. */
export async function markEmailSent(
  db: Db,
  { id, attempts }: EmailAttempt,
  response: string,
  now: Date,
): Promise<void> {
  await markSent(db, { id, attempts, response, now })
}

/** Adds jobs for messages that are still queued. */
export async function addMailJobs(
  db: Db,
  ids: readonly string[],
  addJob: MailJobCall,
): Promise<void> {
  await db
    .selectFrom('postern_mail_messages')
    .where('id', 'in', ids)
    .where('state', '=', 'queued')
    .select((eb) => addJob(eb.ref('id')).as('job'))
    .execute()
}

/** Requeues the message with a job for the next attempt. */
export async function requeueMailMessage(
  db: Db,
  attempt: EmailAttempt,
  reason: string,
  addJob: MailJobCall,
  now: Date,
): Promise<void> {
  await db
    .with('message', (cte) =>
      cte
        .updateTable('postern_mail_messages')
        .set({ state: 'queued', reason, outcome: 'temporary', updated_at: now })
        .where('id', '=', attempt.id)
        .where('attempts', '=', attempt.attempts)
        .where('state', '=', 'sending')
        .returning('id'),
    )
    .selectFrom('message')
    .select((eb) => addJob(eb.ref('message.id')).as('job'))
    .execute()
}
