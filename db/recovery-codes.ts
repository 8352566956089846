/** Recovery codes of people who lost their second factor: keyed hashes, of those that were not used. */
import type { Db, Trx } from './database.ts'

export interface RecoveryCodesTable {
  user_id: string
  code_hash: string
  /** Of the encryption key that the hash was made with; null for a code from before this was kept. */
  key_id: string | null
  created_at: Date
}

/** Puts these in the place of all the person had, in one statement. */
export async function replaceRecoveryCodes(
  trx: Trx,
  userId: string,
  { hashes, keyId: key_id }: { hashes: readonly string[]; keyId: string },
  now: Date,
): Promise<void> {
  await trx
    .with('former', (eb) => eb.deleteFrom('postern_recovery_codes').where('user_id', '=', userId))
    .insertInto('postern_recovery_codes')
    .values(hashes.map((code_hash) => ({ user_id: userId, code_hash, key_id, created_at: now })))
    .execute()
}

/** Whether the person has a code with one of these hashes left. */
export async function hasRecoveryCode(
  db: Db,
  userId: string,
  hashes: readonly string[],
): Promise<boolean> {
  const row = await db
    .selectFrom('postern_recovery_codes')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('code_hash', 'in', hashes)
    .executeTakeFirst()
  return row !== undefined
}

/** Spends a code, given its hash under each key it may have been made with; false when there is none. */
export async function takeRecoveryCode(
  db: Db,
  userId: string,
  hashes: readonly string[],
): Promise<boolean> {
  const result = await db
    .deleteFrom('postern_recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', 'in', hashes)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** How many codes a person has left. */
export async function countRecoveryCodes(db: Db, userId: string): Promise<number> {
  const row = await db
    .selectFrom('postern_recovery_codes')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Voids every code of a person; false when there was none. */
export async function deleteRecoveryCodes(db: Db, userId: string): Promise<boolean> {
  const result = await db
    .deleteFrom('postern_recovery_codes')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}
