/**
 * Devices that users have signed in from: their attempts are throttled separately, so that unauthenticated clients
 * cannot lock a user out.
 */
import { type QueryCreator, type RawBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import type { ParamOf } from '../core/statement.ts'
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
