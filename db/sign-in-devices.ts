/** The devices of a person, by their plain names, for the mail that tells of a sign-in from a new one. */
import { sql } from 'kysely'

import type { Db, Trx } from './database.ts'
import { preparedRow, type ValueOf } from './prepared-statement.ts'

export interface SignInDevicesTable {
  user_id: string
  /** Browser and system, without versions; empty for a client that does not say. */
  device: string
  last_used_at: Date
}

export interface DeviceUse {
  userId: string
  device: string
  /** Of network and user agent, as db/known-devices.ts has it. */
  deviceHash: string | null
  now: Date
}

export interface NotedDevice {
  /** Noted for the first time. */
  isNew: boolean
  /** The person has been signed in before. */
  hasSignedIn: boolean
  /** Somebody of this network and this very user agent has signed in before. */
  isKnown: boolean
  /** How many others were used within a day. */
  usedToday: number
  /** Of the person's sessions, without those of admins in their place. */
  userAgents: string[]
}

/**
 * Notes that the person signs in from a device, before their session is stored. Holds the person, so that of two sign-ins
 * from a device one is the first. Undefined for somebody who is gone.
 */
export const noteSignInDevice: (trx: Trx, use: DeviceUse) => Promise<NotedDevice | undefined> =
  preparedRow((db, value: ValueOf<DeviceUse>) => {
    const now = sql<Date>`${value('now')}::timestamptz`
    return db
      .with('person', (eb) =>
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
              .selectFrom('person')
              .select(['person.id', sql<string>`${value('device')}::text`.as('device')])
              .select(now.as('last_used_at')),
          )
          .onConflict((conflict) =>
            conflict.columns(['user_id', 'device']).doUpdateSet({ last_used_at: now }),
          )
          // Only a row that was there before has been locked.
          .returning(sql<boolean>`postern_sign_in_devices.xmax = 0`.as('is_new')),
      )
      .selectFrom(['person', 'noted'])
      .select([
        'noted.is_new as isNew',
        sql<boolean>`person.last_sign_in_at is not null`.as('hasSignedIn'),
      ])
      .select((eb) => [
        sql<boolean>`exists (${eb
          .selectFrom('postern_known_devices as known')
          .select('known.user_id')
          .whereRef('known.user_id', '=', 'person.id')
          .where('known.device_hash', '=', value('deviceHash'))})`.as('isKnown'),
        sql<number>`(${eb
          .selectFrom('postern_sign_in_devices as other')
          .select(sql`count(*)::int`.as('count'))
          .whereRef('other.user_id', '=', 'person.id')
          .where('other.last_used_at', '>', sql<Date>`${now} - interval '1 day'`)})`.as(
          'usedToday',
        ),
        sql<string[]>`array(${eb
          .selectFrom('sessions')
          .select('sessions.user_agent')
          .distinct()
          .whereRef('sessions.user_id', '=', 'person.id')
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
          .limit(sql.lit(1000))})`.as('userAgents'),
      ])
  })

/** As if nobody had signed in from there. */
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
