/** Attempts at recovery codes: counted before the code is verified; a correct one consumes its code. */
import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Db, Trx } from '../core/database.ts'

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
