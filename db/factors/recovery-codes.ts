/**
 * Recovery codes in GoTrue's tables: a user has at most one set, which is a factor, with a keyed digest of each code.
 * An attempt is counted before its code is verified; a correct one consumes the code.
 */
import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

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

export interface UnusedCode {
  id: string
  code_hash: string
  digest: string | null
  key_id: string | null
}

interface RecoveryAttemptRow {
  setId: string
  factorId: string
  /** Attempts since the last successful one, this one included. */
  failures: number
  codes: UnusedCode[]
}

/**
 * Counts an attempt at the codes of a user before it is verified, so that concurrent requests cannot exceed `most`, and
 * returns the digests that it may match. The last attempt locks the set until `lockedUntil`. Returns undefined while
 * the set is locked, or when there is none. An expired lock resets the failures.
 */
export async function reserveRecoveryAttempt(
  db: Db,
  { userId, maxFailures, lockedUntil }: { userId: string; maxFailures: number; lockedUntil: Date },
  now: Date,
): Promise<RecoveryAttemptRow | undefined> {
  const count = sql<number>`case when sets.verification_locked_until is null
    then sets.failed_verification_count else 0 end + 1`
  return db
    .updateTable('mfa_recovery_code_sets as sets')
    .set({
      failed_verification_count: count,
      verification_locked_until: sql`case when ${count} >= ${maxFailures} then ${lockedUntil}::timestamptz end`,
      updated_at: now,
    })
    .where('sets.user_id', '=', userId)
    .where(sql<boolean>`coalesce(sets.verification_locked_until <= ${now}, true)`)
    .returning([
      'sets.id as setId',
      'sets.mfa_factor_id as factorId',
      'sets.failed_verification_count as failures',
    ])
    .returning((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom('mfa_recovery_codes as codes')
          .leftJoin('postern_recovery_code_digests as digests', 'digests.code_id', 'codes.id')
          .select(['codes.id', 'codes.code_hash', 'digests.digest', 'digests.key_id'])
          .whereRef('codes.mfa_recovery_code_set_id', '=', 'sets.id')
          .where('codes.consumed_at', 'is', null),
      ).as('codes'),
    )
    .executeTakeFirst()
}

/** Releases one counted attempt, and the lock if only that many attempts justify it. */
export async function releaseRecoveryAttempt(
  db: Db,
  setId: string,
  maxFailures: number,
): Promise<void> {
  const count = sql<number>`greatest(failed_verification_count - 1, 0)`
  await db
    .updateTable('mfa_recovery_code_sets')
    .set({
      failed_verification_count: count,
      verification_locked_until: sql`case when ${count} >= ${maxFailures} then verification_locked_until end`,
    })
    .where('id', '=', setId)
    .execute()
}

/**
 * Consumes a code and resets the failures and the lock of its set. Returns how many are left, or undefined when the
 * code was consumed or replaced before.
 */
export async function consumeRecoveryCode(
  trx: Trx,
  codeId: string,
  now: Date,
): Promise<number | undefined> {
  const row = await trx
    .with('consumed', (eb) =>
      eb
        .updateTable('mfa_recovery_codes')
        .set({ consumed_at: now })
        .where('id', '=', codeId)
        .where('consumed_at', 'is', null)
        .returning(['id', 'mfa_recovery_code_set_id as set_id']),
    )
    .updateTable('mfa_recovery_code_sets')
    .set({ failed_verification_count: 0, verification_locked_until: null, updated_at: now })
    .from('consumed')
    .whereRef('mfa_recovery_code_sets.id', '=', 'consumed.set_id')
    .returning((eb) =>
      eb
        .selectFrom('mfa_recovery_codes as others')
        .select((count) => count.fn.countAll<string>().as('count'))
        .whereRef('others.mfa_recovery_code_set_id', '=', 'consumed.set_id')
        .whereRef('others.id', '<>', 'consumed.id')
        .where('others.consumed_at', 'is', null)
        .as('remaining'),
    )
    .executeTakeFirst()
  return row && Number(row.remaining)
}
