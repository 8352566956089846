import { type Selectable, sql } from 'kysely'

import { lockName } from '../core/advisory-lock.ts'
import type { Db, Trx } from '../core/database.ts'
import type { SigningKeysTable } from '../tables/keys.ts'
export type SigningKeyRow = Selectable<SigningKeysTable>

const columns = [
  'kid',
  'alg',
  'state',
  'private_jwk',
  'public_jwk',
  'created_at',
  'activates_at',
  'retires_at',
  'revoked_at',
] as const

/** Returns all keys, revoked ones too, oldest first. */
export function listSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('postern_signing_keys')
    .select(columns)
    .orderBy('created_at')
    .orderBy('kid')
    .execute()
}

/** Serializes changes of signing keys until the transaction ends. */
export async function lockSigningKeys(trx: Trx): Promise<void> {
  await lockName(trx, 'postern_signing_keys')
}

interface NewSigningKey {
  kid: string
  alg: string
  state: 'standby' | 'current'
  private_jwk: string
  public_jwk: object
  activates_at: Date
}

/** Returns false when the key id exists. */
export async function insertSigningKey(trx: Trx, key: NewSigningKey, now: Date): Promise<boolean> {
  const result = await trx
    .insertInto('postern_signing_keys')
    .values({ ...key, public_jwk: JSON.stringify(key.public_jwk), created_at: now })
    .onConflict((conflict) => conflict.column('kid').doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

/** Ends signing with the current key. It verifies until `retiresAt`, or longer for a long-lived token. */
export async function demoteCurrentKey(trx: Trx, retiresAt: Date): Promise<void> {
  await trx
    .updateTable('postern_signing_keys')
    .set({
      state: 'previous',
      private_jwk: '',
      retires_at: sql<Date>`greatest(retires_at, ${retiresAt}::timestamptz)`,
    })
    .where('state', '=', 'current')
    .execute()
}

export async function promoteKey(trx: Trx, kid: string, now: Date): Promise<void> {
  await trx
    .updateTable('postern_signing_keys')
    .set({ state: 'current', activates_at: now })
    .where('kid', '=', kid)
    .execute()
}

/** Deletes the private part. Returns false when there is no such key or it was revoked before. */
export async function revokeKey(trx: Trx, kid: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('postern_signing_keys')
    .set({ state: 'revoked', private_jwk: '', revoked_at: now })
    .where('kid', '=', kid)
    .where('state', '<>', 'revoked')
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Extends the validity of the key until a token that it signed expires at `until`. */
export async function retireKeyAt(db: Db, kid: string, until: Date): Promise<void> {
  await db
    .updateTable('postern_signing_keys')
    .set({ retires_at: sql<Date>`greatest(retires_at, ${until}::timestamptz)` })
    .where('kid', '=', kid)
    .where('state', '<>', 'revoked')
    .execute()
}

/** Sends a notification on `channel`, immediately or with the commit. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
