import type { Expression, RawBuilder } from 'kysely'

import type { Db } from './database.ts'
import { preparedRow, preparedWrite, type ValueOf } from './prepared-statement.ts'

/** Mail between the request that asked for it and the mail server that took it. */
export interface MailMessagesTable {
  id: string
  kind: string
  /** Recipient and variables, encrypted; empty when nothing is left to send. */
  payload: string
  state: 'queued' | 'sending' | 'sent' | 'dead'
  attempts: number
  /** Why it is dead or had to wait; never holds an address. */
  reason: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  sent_at: Date | null
  /** Whom it is about; null for mail that was queued by an older version. */
  user_id: string | null
  /** The language it is written in. */
  locale: string | null
  /** How the last attempt ended; null before the first. */
  outcome: MailOutcome | null
  /** What the mail server said when it took the mail; never holds an address. */
  response: string | null
}

export type MailOutcome = 'sent' | 'temporary' | 'permanent' | 'ambiguous'

export interface QueuedMail {
  id: string
  kind: string
  payload: string
  expires_at: Date | null
}

export interface WaitingMailMessage extends QueuedMail {
  attempts: number
  created_at: Date
}

/** Makes the call that adds the sending job of a message, given the message's id in SQL. */
export type JobOf = (id: Expression<string>) => RawBuilder<unknown>

/** True when a message with this id was queued before, whatever became of it. */
export async function hasMailMessage(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('postern_mail_messages')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

const findWaiting = preparedRow((db, value: ValueOf<{ id: string }>) =>
  db
    .selectFrom('postern_mail_messages')
    .select(['id', 'kind', 'payload', 'attempts', 'created_at', 'expires_at'])
    .where('id', '=', value('id'))
    .where('state', '=', 'queued'),
)

/** A message that still waits to be sent. */
export function findWaitingMail(db: Db, id: string): Promise<WaitingMailMessage | undefined> {
  return findWaiting(db, { id })
}

/** Which state of a message something is about: what came later must not be overwritten. */
export interface Attempt {
  id: string
  attempts: number
}

const claim = preparedRow((db, value: ValueOf<Attempt & { next: number; now: Date }>) =>
  db
    .updateTable('postern_mail_messages')
    .set({ state: 'sending', attempts: value('next'), updated_at: value('now') })
    .where('id', '=', value('id'))
    .where('attempts', '=', value('attempts'))
    .where('state', '=', 'queued')
    .returning(['id', 'attempts']),
)

/** Only one caller gets a waiting message, and this is committed before a byte goes out. */
export function claimMailMessage(
  db: Db,
  { id, attempts }: Attempt,
  now: Date,
): Promise<Attempt | undefined> {
  return claim(db, { id, attempts, next: attempts + 1, now })
}

const markSent = preparedWrite((db, value: ValueOf<Attempt & { response: string; now: Date }>) =>
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

/** Also corrects what was given up as uncertain in the meantime. */
export async function markMailSent(
  db: Db,
  { id, attempts }: Attempt,
  response: string,
  now: Date,
): Promise<void> {
  await markSent(db, { id, attempts, response, now })
}

/** Gives messages that still wait a job. */
export async function addMailJobs(db: Db, ids: readonly string[], jobOf: JobOf): Promise<void> {
  await db
    .selectFrom('postern_mail_messages')
    .where('id', 'in', ids)
    .where('state', '=', 'queued')
    .select((eb) => jobOf(eb.ref('id')).as('job'))
    .execute()
}

/** Back into the queue, with the job of the next attempt. */
export async function requeueMailMessage(
  db: Db,
  attempt: Attempt,
  reason: string,
  jobOf: JobOf,
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
    .select((eb) => jobOf(eb.ref('message.id')).as('job'))
    .execute()
}
