/** Counters of failed sign-in attempts. An attempt is counted before its secret is verified. */
import { type Nullable, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import {
  executePipelined,
  executeStatement,
  type ParamOf,
  queryOne,
  queryOneOrThrow,
} from '../core/statement.ts'
import {
  type DeviceOwner,
  getIdentifierType,
  getOwnerType,
  type IdentifierOwner,
  type IdentifierType,
  knownDevices,
  type OwnerType,
  type OwnerValues,
  ownerValues,
  selectOwner,
} from '../sessions/devices.ts'
import { userColumns } from '../tables/users.ts'
import { type UserRecord, userRelations } from '../users/users.ts'

export interface AttemptCount {
  accountKey: string
  /** A known device is counted under its own key. */
  device: { key: string; hash: string; owner: DeviceOwner } | undefined
  /** Attempts before the first block; each further one blocks longer. */
  free: number
  maxBlockSeconds: number
  /** Attempts are reset when the last one was at or before this. */
  forgetBefore: Date
  /** The limit of attempts per day. */
  maxADay: number
  /** A day that began at or before this has ended. */
  dayBefore: Date
}

export interface CountedAttempt {
  isKnownDevice: boolean
  /** False while the key is blocked; the attempt was not counted. */
  isCounted: boolean
  /** The block set by this attempt. */
  blockedUntil: Date | null
  /** Attempts of the day, this one included; null when it was not counted. */
  dayFailures: number | null
}

/** Counts an attempt unless its key is blocked. */
export function countAttempt(db: Db, attempt: AttemptCount, now: Date): Promise<CountedAttempt> {
  const { device } = attempt
  const owner = device ? ownerValues(device.owner) : { owner: null, aud: null }
  const count = attemptCounts[device ? getOwnerType(device.owner) : 'userId']
  return count(db, { ...valuesFor(attempt), ...owner, now })
}

/** Counts an attempt and looks its user up in one round trip. */
export async function countSignIn(
  db: Db,
  attempt: AttemptCount,
  owner: IdentifierOwner,
  now: Date,
): Promise<CountedAttempt & { user: UserRecord | undefined }> {
  const values = { ...valuesFor(attempt), ...ownerValues(owner), now }
  const row = await signInCounts[getIdentifierType(owner)](db, values)
  const { isKnownDevice, isCounted, blockedUntil, dayFailures, ...user } = row
  return { isKnownDevice, isCounted, blockedUntil, dayFailures, user: subjectUserId(user) }
}

interface Block {
  blockedUntil: Date | null
  /** When the next attempt starts a new day; null while the daily limit is not reached. */
  dayBeganAt: Date | null
}

/** Returns the block or the daily limit that applies, if any. */
export const findBlock: (
  db: Db,
  values: { key: string; maxADay: number },
) => Promise<Block | undefined> = queryOne((db, value: ParamOf<{ key: string; maxADay: number }>) =>
  db
    .selectFrom('postern_throttles')
    .select('blocked_until as blockedUntil')
    .select(
      sql<Date | null>`case when day_failures >= ${value('maxADay')}::int then day_began_at end`.as(
        'dayBeganAt',
      ),
    )
    .where('key', '=', value('key')),
)

const uncount = executeStatement((db, value: ParamOf<{ key: string; blockedUntil: Date | null }>) =>
  db
    .updateTable('postern_throttles')
    .set({
      failures: sql`greatest(failures - 1, 0)`,
      day_failures: sql`greatest(day_failures - 1, 0)`,
      blocked_until: sql`nullif(blocked_until, ${value('blockedUntil')}::timestamptz)`,
    })
    .where('key', '=', value('key')),
)

/** Releases one counted attempt and the block that it set. */
export async function uncountAttempt(
  db: Db,
  key: string,
  blockedUntil: Date | null,
): Promise<void> {
  await uncount(db, { key, blockedUntil })
}

const forget = executeStatement((db, value: ParamOf<{ key: string }>) =>
  db.deleteFrom('postern_throttles').where('key', '=', value('key')),
)

export async function resetAttempts(db: Db, key: string): Promise<void> {
  await forget(db, { key })
}

/** The same for several keys. */
export const resetAllAttempts: (db: Db, values: { keys: string[] }) => Promise<void> =
  executePipelined((db, value: ParamOf<{ keys: string[] }>) =>
    db.deleteFrom('postern_throttles').where(sql<boolean>`key = any(${value('keys')}::text[])`),
  )

function valuesFor({ device, ...attempt }: AttemptCount) {
  return { ...attempt, deviceKey: device?.key ?? null, deviceHash: device?.hash ?? null }
}

const attemptCounts = {
  email: attemptCount('email'),
  phone: attemptCount('phone'),
  userId: attemptCount('userId'),
}

function attemptCount(kind: OwnerType) {
  return queryOneOrThrow((db, value: ParamOf<AttemptValues>) =>
    counting(db, kind, value)
      .selectFrom('attempt')
      .leftJoin('counted', (join) => join.onTrue())
      .select(['attempt.is_known as isKnownDevice', 'counted.blocked_until as blockedUntil'])
      .select('counted.day_failures as dayFailures')
      .select(sql<boolean>`counted.key is not null`.as('isCounted')),
  )
}

const signInCounts = { email: signInCount('email'), phone: signInCount('phone') }

function signInCount(kind: IdentifierType) {
  return queryOneOrThrow((db, value: ParamOf<AttemptValues>) =>
    counting(db, kind, value)
      .selectFrom('attempt')
      .leftJoin('counted', (join) => join.onTrue())
      .leftJoin(
        selectOwner(db, kind, value).select(userColumns).select(userRelations).as('target_user'),
        (join) => join.onTrue(),
      )
      .selectAll('target_user')
      .select(['attempt.is_known as isKnownDevice', 'counted.blocked_until as blockedUntil'])
      .select('counted.day_failures as dayFailures')
      .select(sql<boolean>`counted.key is not null`.as('isCounted')),
  )
}

/** The user id of a row that may have no user. */
function subjectUserId({
  id,
  is_sso_user,
  is_anonymous,
  identities,
  factors,
  ...rest
}: Nullable<UserRecord>): UserRecord | undefined {
  if (id === null || is_sso_user === null || is_anonymous === null) return undefined
  return {
    ...rest,
    id,
    is_sso_user,
    is_anonymous,
    identities: identities ?? [],
    factors: factors ?? [],
  }
}

// The CTE that counts an attempt.

interface AttemptValues extends OwnerValues {
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

const throttleColumns = [
  'key',
  'failures',
  'blocked_until',
  'updated_at',
  'day_failures',
  'day_began_at',
] as const

/** Counts the attempt. Concurrent attempts see each other's counts. */
function counting(db: Db, kind: OwnerType, value: ParamOf<AttemptValues>) {
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
        .columns(throttleColumns)
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
