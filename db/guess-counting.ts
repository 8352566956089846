/** Counting a guess, as a part of the statements that do it. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import { knownDevices, type OwnerKind, type OwnerValues } from './known-devices.ts'
import type { ValueOf } from './prepared-statement.ts'

export interface GuessValues extends OwnerValues {
  accountKey: string
  deviceKey: string | null
  deviceHash: string | null
  free: number
  longestBlockSeconds: number
  forgetBefore: Date
  now: Date
}

/** The part that counts; of racing guesses, each sees the count of those before it. */
export function counting(db: Db, kind: OwnerKind, value: ValueOf<GuessValues>) {
  const isForgotten = sql`postern_throttles.updated_at <= ${value('forgetBefore')}`
  const count = sql`postern_throttles.failures + 1`
  const seconds = sql`least(2 ^ least(${count} - ${value('free')}::int, 20), ${value('longestBlockSeconds')})`
  const key = sql`case when guess.is_known then ${value('deviceKey')} else ${value('accountKey')} end`
  return db
    .with('guess', (eb) => eb.selectNoFrom(isKnown(eb, kind, value).as('is_known')))
    .with('counted', (cte) =>
      cte
        .insertInto('postern_throttles')
        .columns(['key', 'failures', 'blocked_until', 'updated_at'])
        .expression((eb) =>
          eb
            .selectFrom('guess')
            .select([
              key.as('key'),
              sql`1`.as('failures'),
              sql`null::timestamptz`.as('blocked_until'),
              sql`${value('now')}::timestamptz`.as('updated_at'),
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet({
              failures: sql`case when ${isForgotten} then 1 else ${count} end`,
              blocked_until: sql`case when not ${isForgotten} and ${count} >= ${value('free')}::int
                then ${value('now')}::timestamptz + make_interval(secs => ${seconds}) end`,
              updated_at: value('now'),
            })
            .where(
              sql<boolean>`coalesce(postern_throttles.blocked_until <= ${value('now')}, true)`,
            ),
        )
        .returning(['key', 'blocked_until']),
    )
}

/** False without a device. */
function isKnown(db: Pick<Db, 'selectFrom'>, kind: OwnerKind, value: ValueOf<GuessValues>) {
  return sql<boolean>`coalesce(${value('deviceHash')}::text in (${knownDevices(db, kind, value)}), false)`
}
