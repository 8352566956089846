/**
 * Recovery codes in GoTrue's tables: a user has at most one set, which is a factor, with a keyed digest of each code.
 */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'

interface NewRecoveryCode {
  id: string
  codeHash: string
  digest: string
}

export interface NewRecoveryCodes {
  setId: string
  codes: readonly NewRecoveryCode[]
  keyId: string
}

/** Inserts the factor as verified, with its set and its codes. */
export async function insertRecoveryCodeSet(
  trx: Trx,
  { userId, factorId, name, ...made }: NewRecoveryCodes & Owner,
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  await trx
    .with('factor', (eb) =>
      eb.insertInto('mfa_factors').values({
        id: factorId,
        user_id: userId,
        friendly_name: name,
        factor_type: 'recovery_code',
        status: 'verified',
        secret: '',
        ...times,
      }),
    )
    .insertInto('mfa_recovery_code_sets')
    .values({ id: made.setId, user_id: userId, mfa_factor_id: factorId, ...times })
    .execute()
  await insertCodes(trx, made, now)
}

interface Owner {
  userId: string
  factorId: string
  name: string
}

/** Replaces all codes of the set and resets its failures and its lock. */
export async function replaceRecoveryCodes(
  trx: Trx,
  made: NewRecoveryCodes,
  now: Date,
): Promise<void> {
  await trx
    .with('former', (eb) =>
      eb.deleteFrom('mfa_recovery_codes').where('mfa_recovery_code_set_id', '=', made.setId),
    )
    .updateTable('mfa_recovery_code_sets')
    .set({ failed_verification_count: 0, verification_locked_until: null, updated_at: now })
    .where('id', '=', made.setId)
    .execute()
  await insertCodes(trx, made, now)
}

async function insertCodes(trx: Trx, { setId, codes, keyId }: NewRecoveryCodes, now: Date) {
  await trx
    .with('added', (eb) =>
      eb.insertInto('mfa_recovery_codes').values(
        codes.map(({ id, codeHash }) => ({
          id,
          mfa_recovery_code_set_id: setId,
          code_hash: codeHash,
          created_at: now,
        })),
      ),
    )
    .insertInto('postern_recovery_code_digests')
    .values(codes.map(({ id, digest }) => ({ code_id: id, digest, key_id: keyId })))
    .execute()
}

interface RecoveryCodeSet {
  id: string
  factorId: string
  name: string | null
  total: number
  remaining: number
  lockedUntil: Date | null
}

/** Returns the set of a user, which may have no code left, or undefined. */
export async function findRecoveryCodeSet(
  db: Db,
  userId: string,
): Promise<RecoveryCodeSet | undefined> {
  const row = await db
    .selectFrom('mfa_recovery_code_sets as sets')
    .innerJoin('mfa_factors', 'mfa_factors.id', 'sets.mfa_factor_id')
    .leftJoin('mfa_recovery_codes as codes', 'codes.mfa_recovery_code_set_id', 'sets.id')
    .where('sets.user_id', '=', userId)
    .groupBy(['sets.id', 'mfa_factors.id'])
    .select([
      ...(['sets.id', 'sets.mfa_factor_id as factorId'] as const),
      ...([
        'sets.verification_locked_until as lockedUntil',
        'mfa_factors.friendly_name as name',
      ] as const),
    ])
    .select((eb) => [
      eb.fn.count<string>('codes.id').as('total'),
      sql<string>`count(codes.id) filter (where codes.consumed_at is null)`.as('remaining'),
    ])
    .executeTakeFirst()
  return row && { ...row, total: Number(row.total), remaining: Number(row.remaining) }
}
