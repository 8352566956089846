/** The CTE that counts an attempt. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { ParamOf } from '../core/statement.ts'
import { knownDevices, type OwnerType, type OwnerValues } from '../sessions/known-devices.ts'

export interface AttemptValues extends OwnerValues {
  accountKey: string
  deviceKey: string | null
  deviceHash: string | null
  free: number
  maxBlockSeconds: number
  forgetBefore: Date
  maxADay: number
  /** A day that began at or before this has ended. */
  dayBefore: Date
  now: Date
}

/** Counts the attempt. Concurrent attempts see each other's counts. */
export function counting(db: Db, kind: OwnerType, value: ParamOf<AttemptValues>) {
  const isReset = sql`postern_throttles.updated_at <= ${value('forgetBefore')}`
  const isNewDay = sql`coalesce(postern_throttles.day_began_at <= ${value('dayBefore')}, true)`
  const count = sql`postern_throttles.failures + 1`
  const seconds = sql`least(2 ^ least(${count} - ${value('free')}::int, 20), ${value('maxBlockSeconds')})`
  const key = sql`case when attempt.is_known then ${value('deviceKey')} else ${value('accountKey')} end`
  return db
    .with('attempt', (eb) => eb.selectNoFrom(isKnown(eb, kind, value).as('is_known')))
    .with('counted', (cte) =>
      cte
        .insertInto('postern_throttles')
        .columns([
          ...(['key', 'failures', 'blocked_until', 'updated_at'] as const),
          ...(['day_failures', 'day_began_at'] as const),
        ])
        .expression((eb) =>
          eb
            .selectFrom('attempt')
            .select([
              key.as('key'),
              sql`1`.as('failures'),
              sql`null::timestamptz`.as('blocked_until'),
              sql`${value('now')}::timestamptz`.as('updated_at'),
              sql`1`.as('day_failures'),
              sql`${value('now')}::timestamptz`.as('day_began_at'),
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet({
              failures: sql`case when ${isReset} then 1 else ${count} end`,
              blocked_until: sql`case when not ${isReset} and ${count} >= ${value('free')}::int
                then ${value('now')}::timestamptz + make_interval(secs => ${seconds}) end`,
              updated_at: value('now'),
              day_failures: sql`case when ${isNewDay} then 1 else postern_throttles.day_failures + 1 end`,
              day_began_at: sql`case when ${isNewDay} then ${value('now')}::timestamptz
                else postern_throttles.day_began_at end`,
            })
            .where(
              sql<boolean>`coalesce(postern_throttles.blocked_until <= ${value('now')}, true)
                and (${isNewDay} or postern_throttles.day_failures < ${value('maxADay')}::int)`,
            ),
        )
        .returning(['key', 'blocked_until', 'day_failures']),
    )
}

/** Whether the device is known; false without a device. */
function isKnown(db: Pick<Db, 'selectFrom'>, kind: OwnerType, value: ParamOf<AttemptValues>) {
  return sql<boolean>`coalesce(${value('deviceHash')}::text in (${knownDevices(db, kind, value)}), false)`
}
