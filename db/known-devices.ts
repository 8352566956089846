/** From where people have signed in, so that strangers who guess do not keep them out. */
import { type QueryCreator, type RawBuilder, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import type { ValueOf } from './prepared-statement.ts'

export interface KnownDevicesTable {
  user_id: string
  /** A keyed hash of the network and of what the client says it is. */
  device_hash: string
  last_used_at: Date
}

/** Whoever has an address; SSO accounts may share theirs, so they are not found by it. */
export type AddressOwner = { email: string; aud: string } | { phone: string; aud: string }

/** Whose device it may be. */
export type DeviceOwner = { userId: string } | AddressOwner

/** By what somebody is named, each in statements of its own. */
export type OwnerKind = AddressKind | 'userId'
export type AddressKind = 'email' | 'phone'

export interface OwnerValues {
  owner: string | null
  aud: string | null
}

export function addressKindOf(owner: AddressOwner): AddressKind {
  return 'email' in owner ? 'email' : 'phone'
}

export function ownerKindOf(owner: DeviceOwner): OwnerKind {
  return 'userId' in owner ? 'userId' : addressKindOf(owner)
}

export function ownerValues(owner: DeviceOwner): OwnerValues {
  if ('userId' in owner) return { owner: owner.userId, aud: null }
  return { owner: 'email' in owner ? owner.email : owner.phone, aud: owner.aud }
}

type Selecting = Pick<QueryCreator<Database>, 'selectFrom'>

export function selectOwner(db: Selecting, kind: AddressKind, value: ValueOf<OwnerValues>) {
  return db
    .selectFrom('users')
    .where('users.aud', '=', value('aud'))
    .where('users.is_sso_user', '=', sql.lit(false))
    .where(`users.${kind}`, '=', value('owner'))
}

/** A person's devices count while they are among so many: whoever has a password must not store up guesses for later. */
const latestDevices = 20

/** The hashes of the devices that count, for a statement that compares one of them. */
export function knownDevices(db: Selecting, kind: OwnerKind, value: ValueOf<OwnerValues>) {
  const latest = db
    .selectFrom('postern_known_devices')
    .select('device_hash')
    .orderBy('last_used_at', 'desc')
    .limit(sql.lit(latestDevices))
  if (kind === 'userId') return latest.where('user_id', '=', value('owner'))
  return latest.where('user_id', '=', selectOwner(db, kind, value).select('users.id'))
}

/**
 * Notes a device once a day, as a building block for the statement that opens a session; without a hash, or unless the
 * condition holds, it adds none.
 */
export function deviceInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ValueOf<{ user_id: string; deviceHash: string | null; now: Date }>,
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

/** The devices of a person are strangers from now on; `except` stays known. */
export async function deleteKnownDevices(db: Db, userId: string, except?: string): Promise<void> {
  await db
    .deleteFrom('postern_known_devices')
    .where('user_id', '=', userId)
    .$if(except !== undefined, (qb) => qb.where('device_hash', '<>', except ?? ''))
    .execute()
}
