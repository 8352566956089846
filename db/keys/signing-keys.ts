/** Signing keys of access tokens, and the service tokens that they sign. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import type { ApiTokensTable, SigningKeysTable } from '../tables/server.ts'

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

export type ApiTokenRow = Selectable<ApiTokensTable>

type NewApiToken = Pick<ApiTokenRow, 'jti' | 'kid' | 'role' | 'sub' | 'expires_at'>

export async function insertApiToken(db: Db, token: NewApiToken, now: Date): Promise<void> {
  await db
    .insertInto('postern_api_tokens')
    .values({ ...token, created_at: now, revoked_at: null })
    .execute()
}

/** Returns unexpired tokens, oldest first. The expiry of a token that was not issued here is unknown. */
export function listApiTokens(db: Db, now: Date): Promise<ApiTokenRow[]> {
  return db
    .selectFrom('postern_api_tokens')
    .selectAll()
    .where((eb) => eb.or([eb('expires_at', '>', now), eb('expires_at', 'is', null)]))
    .orderBy('created_at')
    .execute()
}

/** Revokes a token, also one that was not issued here. Returns false when it was revoked before. */
export async function revokeApiToken(db: Db, jti: string, now: Date): Promise<boolean> {
  const row = await db
    .insertInto('postern_api_tokens')
    .values({ jti, created_at: now, revoked_at: now })
    .onConflict((conflict) =>
      conflict
        .column('jti')
        .doUpdateSet({ revoked_at: now })
        .where('postern_api_tokens.revoked_at', 'is', null),
    )
    .returning('jti')
    .executeTakeFirst()
  return row !== undefined
}
