/**
 * Devices of users. Attempts from a known one are throttled separately, so that unauthenticated clients cannot lock a
 * user out; a sign-in from a new one is notified.
 */
import {
  type Expression,
  type ExpressionBuilder,
  type QueryCreator,
  type RawBuilder,
  sql,
} from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'

/** Any user with this identifier; SSO users may share an email and are not found by it. */
export type IdentifierOwner = { email: string; aud: string } | { phone: string; aud: string }

/** Whose device it may be. */
export type DeviceOwner = { userId: string } | IdentifierOwner

/** One statement for each type of owner. */
export type OwnerType = IdentifierType | 'userId'
export type IdentifierType = 'email' | 'phone'

export interface OwnerValues {
  owner: string | null
  aud: string | null
}

export function getIdentifierType(owner: IdentifierOwner): IdentifierType {
  return 'email' in owner ? 'email' : 'phone'
}

export function getOwnerType(owner: DeviceOwner): OwnerType {
  return 'userId' in owner ? 'userId' : getIdentifierType(owner)
}

export function ownerValues(owner: DeviceOwner): OwnerValues {
  if ('userId' in owner) return { owner: owner.userId, aud: null }
  return { owner: 'email' in owner ? owner.email : owner.phone, aud: owner.aud }
}

type Selecting = Pick<QueryCreator<Database>, 'selectFrom'>

export function selectOwner(db: Selecting, kind: IdentifierType, value: ParamOf<OwnerValues>) {
  return db
    .selectFrom('users')
    .where('users.aud', '=', value('aud'))
    .where('users.is_sso_user', '=', sql.lit(false))
    .where(`users.${kind}`, '=', value('owner'))
}

/** Limits the devices that count per user: an attacker with a password must not collect devices for later attempts. */
const latestDevices = 20

/** The hashes of the counting devices, as a subquery. */
export function knownDevices(db: Selecting, kind: OwnerType, value: ParamOf<OwnerValues>) {
  const latest = db
    .selectFrom('postern_known_devices')
    .select('device_hash')
    .orderBy('last_used_at', 'desc')
    .limit(sql.lit(latestDevices))
  if (kind === 'userId') return latest.where('user_id', '=', value('owner'))
  return latest.where('user_id', '=', selectOwner(db, kind, value).select('users.id'))
}

/**
 * Records a device once a day, as a CTE of the session insert. Inserts nothing without a hash or when the condition is
 * false.
 */
export function deviceInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ParamOf<{ user_id: string; deviceHash: string | null; now: Date }>,
  condition: RawBuilder<unknown>,
) {
  return db
    .insertInto('postern_known_devices')
    .columns(['user_id', 'device_hash', 'last_used_at'])
    .expression(
      db
        .selectNoFrom([
          sql`${value('user_id')}::uuid`.as('user_id'),
          sql`${value('deviceHash')}::text`.as('device_hash'),
          sql`${value('now')}::timestamptz`.as('last_used_at'),
        ])
        .where(sql<boolean>`${value('deviceHash')}::text is not null and ${condition}`),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'device_hash'])
        .doUpdateSet({ last_used_at: value('now') })
        .where(
          sql<boolean>`postern_known_devices.last_used_at < ${value('now')}::timestamptz - interval '1 day'`,
        ),
    )
}

/** Deletes the known devices of a user except `except`. */
export async function deleteKnownDevices(db: Db, userId: string, except?: string): Promise<void> {
  await db
    .deleteFrom('postern_known_devices')
    .where('user_id', '=', userId)
    .$if(except !== undefined, (qb) => qb.where('device_hash', '<>', except ?? ''))
    .execute()
}

interface DeviceUse {
  userId: string
  device: string
  /** Hash of network and user agent, as in db/sessions/devices.ts. */
  deviceHash: string | null
  now: Date
}

interface NotedDevice {
  /** The device was recorded for the first time. */
  isNew: boolean
  /** The user has signed in before. */
  hasSignedIn: boolean
  /** The user has signed in with this network and user agent before. */
  isKnown: boolean
  /** Other devices used within a day. */
  usedToday: number
  /** User agents of the user's sessions, without impersonated ones. */
  userAgents: string[]
}

type OfTargetUser = ExpressionBuilder<Database & { target_user: { id: string } }, 'target_user'>

/** The user agents of the sessions of `target_user`, without impersonated ones. */
const userAgents = (eb: OfTargetUser) =>
  sql<string[]>`array(${eb
    .selectFrom('sessions')
    .select('sessions.user_agent')
    .distinct()
    .whereRef('sessions.user_id', '=', 'target_user.id')
    .where('sessions.user_agent', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('postern_impersonations as imp')
            .select('imp.session_id')
            .whereRef('imp.session_id', '=', 'sessions.id'),
        ),
      ),
    )
    .limit(sql.lit(1000))})`

/** Whether `target_user` has signed in with this network and user agent before. */
const isKnownDevice = (eb: OfTargetUser, deviceHash: Expression<string | null>) =>
  sql<boolean>`exists (${eb
    .selectFrom('postern_known_devices as known')
    .select('known.user_id')
    .whereRef('known.user_id', '=', 'target_user.id')
    .where('known.device_hash', '=', deviceHash)})`

/** The number of other devices of `target_user` that were used within a day. */
const usedToday = (eb: OfTargetUser, now: RawBuilder<Date>) =>
  sql<number>`(${eb
    .selectFrom('postern_sign_in_devices as other')
    .select(sql`count(*)::int`.as('count'))
    .whereRef('other.user_id', '=', 'target_user.id')
    .where('other.last_used_at', '>', sql<Date>`${now} - interval '1 day'`)})`

/**
 * Records a sign-in from a device before the session is stored. Locks the user, so that of two concurrent sign-ins from
 * a device one is the first. Returns undefined when the user was deleted.
 */
export const recordSignInDevice: (trx: Trx, use: DeviceUse) => Promise<NotedDevice | undefined> =
  queryOne((db, value: ParamOf<DeviceUse>) => {
    const now = sql<Date>`${value('now')}::timestamptz`
    return db
      .with('target_user', (eb) =>
        eb
          .selectFrom('users')
          .select(['users.id', 'users.last_sign_in_at'])
          .where('users.id', '=', value('userId'))
          .forUpdate(),
      )
      .with('noted', (eb) =>
        eb
          .insertInto('postern_sign_in_devices')
          .columns(['user_id', 'device', 'last_used_at'])
          .expression((select) =>
            select
              .selectFrom('target_user')
              .select(['target_user.id', sql<string>`${value('device')}::text`.as('device')])
              .select(now.as('last_used_at')),
          )
          .onConflict((conflict) =>
            conflict.columns(['user_id', 'device']).doUpdateSet({ last_used_at: now }),
          )
          // `xmax` is 0 in an inserted row and not in an updated one.
          .returning(sql<boolean>`postern_sign_in_devices.xmax = 0`.as('is_new')),
      )
      .selectFrom(['target_user', 'noted'])
      .select([
        'noted.is_new as isNew',
        sql<boolean>`target_user.last_sign_in_at is not null`.as('hasSignedIn'),
      ])
      .select((eb) => [
        isKnownDevice(eb, value('deviceHash')).as('isKnown'),
        usedToday(eb, now).as('usedToday'),
        userAgents(eb).as('userAgents'),
      ])
  })

/** Deletes the record, as if the user had not signed in from there. */
export async function forgetSignInDevice(
  db: Db,
  { userId, device, deviceHash }: Omit<DeviceUse, 'now'>,
): Promise<void> {
  await db
    .with('known', (eb) =>
      eb
        .deleteFrom('postern_known_devices')
        .where('user_id', '=', userId)
        .where('device_hash', '=', deviceHash),
    )
    .deleteFrom('postern_sign_in_devices')
    .where('user_id', '=', userId)
    .where('device', '=', device)
    .execute()
}
