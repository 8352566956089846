import { type ColumnType, type Selectable, sql } from 'kysely'

import type { Db, Trx } from './database.ts'

export type SigningKeyState = 'standby' | 'current' | 'previous' | 'revoked'

/** Keys that sign access tokens, shared by all replicas. */
export interface SigningKeysTable {
  kid: string
  alg: string
  state: SigningKeyState
  /** A private JWK (RFC 7517), encrypted; empty once the key signs no more. */
  private_jwk: string
  public_jwk: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
  activates_at: Date | null
  /** When the last token it signed has expired; until it is demoted, the least that is known of that. */
  retires_at: Date | null
  revoked_at: Date | null
}

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

/** Every key there ever was, oldest first. */
export function listSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('postern_signing_keys')
    .select(columns)
    .orderBy('created_at')
    .orderBy('kid')
    .execute()
}

/** Lets one transaction at a time change keys; the others wait for it to end. */
export async function lockSigningKeys(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('postern_signing_keys', 0))`.execute(trx)
}

export interface NewSigningKey {
  kid: string
  alg: string
  state: 'standby' | 'current'
  private_jwk: string
  public_jwk: object
  activates_at: Date
}

/** False when there is a key of this id already. */
export async function insertSigningKey(trx: Trx, key: NewSigningKey, now: Date): Promise<boolean> {
  const result = await trx
    .insertInto('postern_signing_keys')
    .values({ ...key, public_jwk: JSON.stringify(key.public_jwk), created_at: now })
    .onConflict((conflict) => conflict.column('kid').doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

/** The current key verifies until `retiresAt`, or longer for a long-lived token, and signs no more. */
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

/** Forgets the private part; false when there is no such key or it was revoked before. */
export async function revokeKey(trx: Trx, kid: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable('postern_signing_keys')
    .set({ state: 'revoked', private_jwk: '', revoked_at: now })
    .where('kid', '=', kid)
    .where('state', '<>', 'revoked')
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Makes the key outlive a token that it signed and that expires at `until`. */
export async function keepKeyUntil(db: Db, kid: string, until: Date): Promise<void> {
  await db
    .updateTable('postern_signing_keys')
    .set({ retires_at: sql<Date>`greatest(retires_at, ${until}::timestamptz)` })
    .where('kid', '=', kid)
    .where('state', '<>', 'revoked')
    .execute()
}

/** Tells every listener on `channel`, at once or when the transaction commits. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
