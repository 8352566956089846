import { type Expression, sql } from 'kysely'

import type { Db } from './database.ts'
import { preparedOneRow, preparedRow, type ValueOf } from './prepared-statement.ts'

/** When something was last sent to an address; the key is a keyed hash, known person or not. */
export interface SendIntervalsTable {
  key: string
  sent_at: Date
}

/** What is left of the hourly quota of a channel, shared by all replicas. */
export interface SendQuotasTable {
  channel: string
  tokens: number
  refilled_at: Date
  /** Of which `tokens` are left; null from before this was kept. */
  quota: number | null
}

export interface SendInterval {
  key: string
  /** What was sent under these counts as well, and does not wait for this. */
  others: readonly string[]
  seconds: number
}

const takeInterval = preparedRow(
  (db, value: ValueOf<{ key: string; others: readonly string[]; dueBefore: Date; now: Date }>) =>
    db
      .insertInto('postern_send_intervals')
      .columns(['key', 'sent_at'])
      .expression(
        db
          .selectNoFrom([
            sql`${value('key')}::text`.as('key'),
            sql`${value('now')}::timestamptz`.as('sent_at'),
          ])
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('postern_send_intervals')
                  .select('key')
                  .where(sql<boolean>`key = any(${value('others')}::text[])`)
                  .where('sent_at', '>', value('dueBefore')),
              ),
            ),
          ),
      )
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet({ sent_at: value('now') })
          .where('postern_send_intervals.sent_at', '<=', value('dueBefore')),
      )
      .returning('key'),
)

const findLast = preparedOneRow((db, value: ValueOf<{ keys: readonly string[] }>) =>
  db
    .selectFrom('postern_send_intervals')
    .select((eb) => eb.fn.max('sent_at').as('sent_at'))
    .where(sql<boolean>`key = any(${value('keys')}::text[])`),
)

/** Claims the right to send now. Returns 0, or the whole seconds until it may be claimed. */
export async function takeSendInterval(
  db: Db,
  { key, others, seconds }: SendInterval,
  now: Date,
): Promise<number> {
  const dueBefore = new Date(now.getTime() - seconds * 1000)
  if (await takeInterval(db, { key, others, dueBefore, now })) return 0
  const last = await findLast(db, { keys: [key, ...others] })
  return secondsUntil(last.sent_at ?? dueBefore, dueBefore)
}

/** The whole seconds until something may be sent again, of what was sent under this key; 0 when it may be. */
export async function findSendWait(
  db: Db,
  { key, seconds }: Pick<SendInterval, 'key' | 'seconds'>,
  now: Date,
): Promise<number> {
  const dueBefore = new Date(now.getTime() - seconds * 1000)
  const { sent_at } = await findLast(db, { keys: [key] })
  return sent_at && sent_at > dueBefore ? secondsUntil(sent_at, dueBefore) : 0
}

/** A limit that was changed holds at once: what has been sent counts against the new one. */
function leftOf(tokens: Expression<unknown>, limit: Expression<unknown>) {
  return sql<number>`${tokens} + ${limit} - coalesce(postern_send_quotas.quota, ${limit})`
}

interface QuotaValues {
  channel: string
  limit: number
  windowStart: Date
  now: Date
}

const takeQuota = preparedRow((db, value: ValueOf<QuotaValues>) => {
  const tokens = sql.ref('postern_send_quotas.tokens')
  const refilledAt = sql.ref('postern_send_quotas.refilled_at')
  const isOver = sql`${refilledAt} <= ${value('windowStart')}`
  const limit = sql<number>`${value('limit')}::int`
  return db
    .insertInto('postern_send_quotas')
    .values({
      channel: value('channel'),
      tokens: sql`${limit} - 1`,
      refilled_at: value('now'),
      quota: limit,
    })
    .onConflict((conflict) =>
      conflict
        .column('channel')
        .doUpdateSet({
          tokens: sql`case when ${isOver} then ${limit} else ${leftOf(tokens, limit)} end - 1`,
          quota: limit,
          refilled_at: sql`case when ${isOver} then ${value('now')}::timestamptz else ${refilledAt} end`,
        })
        .where(sql<boolean>`(${isOver} or ${leftOf(tokens, limit)} > 0)`),
    )
    .returning('refilled_at')
})

export interface TakenQuota {
  /** The whole seconds until the window ends, when nothing was left of it; else 0. */
  wait: number
  /** When the window began from which one send was taken. */
  windowBegan: Date | undefined
}

/** Takes one of `limit` sends per window. */
export async function takeSendQuota(
  db: Db,
  channel: string,
  limit: number,
  windowSeconds: number,
  now: Date,
): Promise<TakenQuota> {
  const windowStart = new Date(now.getTime() - windowSeconds * 1000)
  const taken = await takeQuota(db, { channel, limit, windowStart, now })
  if (taken) return { wait: 0, windowBegan: taken.refilled_at }
  const wait = await findQuotaWait(db, channel, { count: limit, seconds: windowSeconds }, now)
  return { wait: Math.max(1, wait), windowBegan: undefined }
}

const findExhausted = preparedRow((db, value: ValueOf<Omit<QuotaValues, 'now'>>) =>
  db
    .selectFrom('postern_send_quotas')
    .select('refilled_at')
    .where('channel', '=', value('channel'))
    .where(leftOf(sql.ref('tokens'), sql`${value('limit')}::int`), '<=', sql.lit(0))
    .where('refilled_at', '>', value('windowStart')),
)

/** Whether something may be sent in this window, without taking it. Returns 0, or the whole seconds until it ends. */
export async function findQuotaWait(
  db: Db,
  channel: string,
  { count: limit, seconds }: { count: number; seconds: number },
  now: Date,
): Promise<number> {
  const windowStart = new Date(now.getTime() - seconds * 1000)
  const exhausted = await findExhausted(db, { channel, limit, windowStart })
  return exhausted ? secondsUntil(exhausted.refilled_at, windowStart) : 0
}

/** How many may still be sent in this window. */
export async function findQuotaLeft(
  db: Db,
  channel: string,
  { count: limit, seconds }: { count: number; seconds: number },
  now: Date,
): Promise<number> {
  const row = await db
    .selectFrom('postern_send_quotas')
    .select(leftOf(sql.ref('tokens'), sql`${limit}::int`).as('left'))
    .where('channel', '=', channel)
    .where('refilled_at', '>', new Date(now.getTime() - seconds * 1000))
    .executeTakeFirst()
  return row ? Math.max(0, row.left) : limit
}

function secondsUntil(time: Date, start: Date): number {
  return Math.max(1, Math.ceil((time.getTime() - start.getTime()) / 1000))
}

export async function deleteSendInterval(db: Db, key: string): Promise<void> {
  await db.deleteFrom('postern_send_intervals').where('key', '=', key).execute()
}
