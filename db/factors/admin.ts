/** Factors of a user, for the admin API. */
import type { Db, Trx } from '../core/database.ts'
import { factorColumns, secondFactorMethods } from '../tables/factors.ts'

export function listFactors(db: Db, userId: string) {
  return db
    .selectFrom('mfa_factors')
    .select(factorColumns)
    .where('mfa_factors.user_id', '=', userId)
    .orderBy('mfa_factors.created_at')
    .execute()
}

interface FactorChange {
  friendly_name?: string
  phone?: string
}

/**
 * Returns undefined when the user has no such factor. Only phone factors take a phone number. Open challenges are
 * deleted: their code was sent to the previous number.
 */
export async function changeFactor(
  trx: Trx,
  { userId, factorId }: { userId: string; factorId: string },
  { friendly_name, phone }: FactorChange,
  now: Date,
) {
  const factor = await trx
    .updateTable('mfa_factors')
    .set((eb) => ({
      updated_at: now,
      ...(friendly_name !== undefined && { friendly_name }),
      ...(phone !== undefined && {
        phone: eb
          .case()
          .when('factor_type', '=', 'phone')
          .then(phone)
          .else(eb.ref('mfa_factors.phone'))
          .end(),
      }),
    }))
    .where('id', '=', factorId)
    .where('user_id', '=', userId)
    .returning(factorColumns)
    .executeTakeFirst()
  if (factor && phone !== undefined) {
    await trx.deleteFrom('mfa_challenges').where('factor_id', '=', factor.id).execute()
  }
  return factor
}

/** Deletes the factor and its `amr` entries of every session. Returns undefined when the user has no such factor. */
export async function removeFactor(
  trx: Trx,
  { userId, factorId }: { userId: string; factorId: string },
  now: Date,
) {
  const factor = await trx
    .deleteFrom('mfa_factors')
    .where('id', '=', factorId)
    .where('user_id', '=', userId)
    .returning(factorColumns)
    .executeTakeFirst()
  if (!factor) return undefined
  await trx
    .with('lowered', (eb) =>
      eb
        .updateTable('sessions')
        .set({ aal: 'aal1', factor_id: null, updated_at: now })
        .where('user_id', '=', userId)
        .where('factor_id', '=', factorId)
        .returning('id'),
    )
    .deleteFrom('mfa_amr_claims')
    .where('session_id', 'in', (eb) => eb.selectFrom('lowered').select('lowered.id'))
    .where('authentication_method', 'in', secondFactorMethods)
    .execute()
  return factor
}

/** Returns some encrypted TOTP secrets, to check the encryption keys. */
export function someFactorSecrets(db: Db, limit: number): Promise<{ id: string; value: string }[]> {
  return db
    .selectFrom('mfa_factors')
    .select((eb) => ['id', eb.fn.coalesce('secret', eb.val('')).as('value')])
    .where('factor_type', '=', 'totp')
    .limit(limit)
    .execute()
}
