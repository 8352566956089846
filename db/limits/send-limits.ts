import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { type ParamOf, queryOne, queryOneOrThrow } from '../core/statement.ts'

interface SendInterval {
  key: string
  /** Other keys that are set by this message but do not delay it. */
  others: readonly string[]
  seconds: number
}

const takeInterval = queryOne(
  (db, value: ParamOf<{ key: string; others: readonly string[]; dueBefore: Date; now: Date }>) =>
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

const findLast = queryOneOrThrow((db, value: ParamOf<{ keys: readonly string[] }>) =>
  db
    .selectFrom('postern_send_intervals')
    .select((eb) => eb.fn.max('sent_at').as('sent_at'))
    .where(sql<boolean>`key = any(${value('keys')}::text[])`),
)

/** Reserves the right to send now. Returns 0, or the whole seconds to wait. */
export async function reserveSendInterval(
  db: Db,
  { key, others, seconds }: SendInterval,
  now: Date,
): Promise<number> {
  const dueBefore = new Date(now.getTime() - seconds * 1000)
  if (await takeInterval(db, { key, others, dueBefore, now })) return 0
  const last = await findLast(db, { keys: [key, ...others] })
  return secondsUntil(last.sent_at ?? dueBefore, dueBefore)
}

/** Returns the whole seconds until a message under this key may be sent again, 0 when it may. */
export async function findSendWait(
  db: Db,
  { key, seconds }: Pick<SendInterval, 'key' | 'seconds'>,
  now: Date,
): Promise<number> {
  const dueBefore = new Date(now.getTime() - seconds * 1000)
  const { sent_at } = await findLast(db, { keys: [key] })
  return sent_at && sent_at > dueBefore ? secondsUntil(sent_at, dueBefore) : 0
}

/** At least 1. */
export function secondsUntil(time: Date, start: Date): number {
  return Math.max(1, Math.ceil((time.getTime() - start.getTime()) / 1000))
}

export async function deleteSendInterval(db: Db, key: string): Promise<void> {
  await db.deleteFrom('postern_send_intervals').where('key', '=', key).execute()
}
