import { sql } from 'kysely'

import type { Db } from './database.ts'

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
}

/** Claims the right to send now. Returns 0, or the whole seconds until it may be claimed. */
export async function takeSendInterval(
  db: Db,
  key: string,
  intervalSeconds: number,
  now: Date,
): Promise<number> {
  const dueBefore = new Date(now.getTime() - intervalSeconds * 1000)
  const taken = await db
    .insertInto('postern_send_intervals')
    .values({ key, sent_at: now })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ sent_at: now })
        .where('postern_send_intervals.sent_at', '<=', dueBefore),
    )
    .returning('key')
    .executeTakeFirst()
  if (taken) return 0
  const last = await db
    .selectFrom('postern_send_intervals')
    .select('sent_at')
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  return Math.max(1, Math.ceil((last.sent_at.getTime() - dueBefore.getTime()) / 1000))
}

/** Takes one of `limit` sends per window. Returns 0, or the whole seconds until the window ends. */
export async function takeSendQuota(
  db: Db,
  channel: string,
  limit: number,
  windowSeconds: number,
  now: Date,
): Promise<number> {
  const windowStart = new Date(now.getTime() - windowSeconds * 1000)
  const row = await db
    .insertInto('postern_send_quotas')
    .values({ channel, tokens: limit - 1, refilled_at: now })
    .onConflict((conflict) =>
      conflict.column('channel').doUpdateSet({
        tokens: sql`case when postern_send_quotas.refilled_at <= ${windowStart} then ${limit} else postern_send_quotas.tokens end - 1`,
        refilled_at: sql`case when postern_send_quotas.refilled_at <= ${windowStart} then ${now}::timestamptz else postern_send_quotas.refilled_at end`,
      }),
    )
    .returning(['tokens', 'refilled_at'])
    .executeTakeFirstOrThrow()
  if (row.tokens >= 0) return 0
  return Math.max(1, Math.ceil((row.refilled_at.getTime() - windowStart.getTime()) / 1000))
}

export async function deleteSendInterval(db: Db, key: string): Promise<void> {
  await db.deleteFrom('postern_send_intervals').where('key', '=', key).execute()
}
