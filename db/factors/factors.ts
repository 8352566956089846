/** Factors of a user with their WebAuthn credentials: enrollment, verification, deletion. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { ChallengeableFactorType, MfaFactorsTable } from '../tables/factors.ts'

export interface FactorRecord extends Selectable<MfaFactorsTable> {
  enrolled_in: string | null
}

const selectFactor = (db: Db) =>
  db
    .selectFrom('mfa_factors')
    .leftJoin('postern_factors', 'postern_factors.factor_id', 'mfa_factors.id')
    .selectAll('mfa_factors')
    .select('postern_factors.enrolled_in')

export function findFactor(
  db: Db,
  userId: string,
  factorId: string,
): Promise<FactorRecord | undefined> {
  return selectFactor(db)
    .where('mfa_factors.user_id', '=', userId)
    .where('mfa_factors.id', '=', factorId)
    .executeTakeFirst()
}

/** Returns the verified WebAuthn factors of a user, for `allowCredentials`. */
export function findWebauthnFactors(db: Db, userId: string): Promise<FactorRecord[]> {
  return selectFactor(db)
    .where('mfa_factors.user_id', '=', userId)
    .where('mfa_factors.factor_type', '=', 'webauthn')
    .where('mfa_factors.status', '=', 'verified')
    .orderBy('mfa_factors.created_at')
    .execute()
}

interface NewFactor {
  id: string
  userId: string
  type: ChallengeableFactorType
  name: string
  /** Encrypted; '' for a factor without a secret. */
  secret: string
  phone: string | null
  /** The session that enrolls it. */
  sessionId: string
}

export async function insertFactor(
  trx: Trx,
  { id, userId, type, name, secret, phone, sessionId }: NewFactor,
  now: Date,
): Promise<void> {
  await trx
    .with('added', (eb) =>
      eb
        .insertInto('mfa_factors')
        .values({
          id,
          user_id: userId,
          friendly_name: name,
          factor_type: type,
          status: 'unverified',
          created_at: now,
          updated_at: now,
          secret,
          phone,
        })
        .returning('id'),
    )
    .insertInto('postern_factors')
    .columns(['factor_id', 'enrolled_in'])
    .expression((eb) =>
      eb
        .selectFrom('added')
        .select(['added.id as factor_id', sql<string>`${sessionId}::uuid`.as('enrolled_in')]),
    )
    .execute()
}

/**
 * Deletes unverified factors that are old and have no open challenge, and other enrollments of this number. Returns
 * their ids.
 */
export async function deleteStaleFactors(
  trx: Trx,
  userId: string,
  stale: { createdBefore: Date; challengedBefore: Date; phone: string | null },
): Promise<string[]> {
  const removed = await trx
    .deleteFrom('mfa_factors')
    .where('user_id', '=', userId)
    .where('status', '=', 'unverified')
    .where((eb) =>
      eb.or([
        eb('phone', '=', stale.phone),
        eb.and([
          eb('created_at', '<', stale.createdBefore),
          sql<boolean>`coalesce(last_challenged_at < ${stale.challengedBefore}, true)`,
        ]),
      ]),
    )
    .returning('id')
    .execute()
  return removed.map(({ id }) => id)
}

/** Marks the factor as verified and deletes unverified enrollments of the same type. */
export async function verifyFactor(
  trx: Trx,
  { id, user_id, factor_type }: Pick<FactorRecord, 'id' | 'user_id' | 'factor_type'>,
  now: Date,
): Promise<void> {
  await trx
    .with('others', (eb) =>
      eb
        .deleteFrom('mfa_factors')
        .where('user_id', '=', user_id)
        .where('factor_type', '=', factor_type)
        .where('status', '=', 'unverified')
        .where('id', '<>', id),
    )
    .updateTable('mfa_factors')
    .set({ status: 'verified', updated_at: now })
    .where('id', '=', id)
    .execute()
}

/**
 * Records the TOTP time step of a factor. Returns false when this step or a later one was accepted before (RFC 6238
 * §5.2). One statement, so that of concurrent requests with one code a single one is accepted.
 */
export async function advanceTotpCounter(
  trx: Trx,
  factorId: string,
  step: number,
): Promise<boolean> {
  const taken = await trx
    .insertInto('postern_factors')
    .values({ factor_id: factorId, last_step: step })
    .onConflict((conflict) =>
      conflict
        .column('factor_id')
        .doUpdateSet({ last_step: step })
        .where(sql<boolean>`coalesce(postern_factors.last_step, -1) < ${step}`),
    )
    .returning('factor_id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Stores a secret encrypted under the current key if it is still the value that was read. */
export async function storeEncryptedFactorSecret(
  db: Db,
  factorId: string,
  found: string,
  sealed: string,
) {
  await db
    .updateTable('mfa_factors')
    .set({ secret: sealed })
    .where('id', '=', factorId)
    .where('secret', '=', found)
    .execute()
}

/** Deletes all factors of an account whose address another user has verified. */
export async function deleteFactors(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('mfa_factors').where('user_id', '=', userId).execute()
}

interface NewCredential {
  credential: object
  aaguid: string | null
}

const withCredential = (
  trx: Trx,
  factorId: string,
  { credential, aaguid }: NewCredential,
  now: Date,
) =>
  trx
    .updateTable('mfa_factors')
    .set({
      web_authn_credential: JSON.stringify(credential),
      web_authn_aaguid: aaguid,
      updated_at: now,
    })
    .where('id', '=', factorId)

/** Stores the credential of a factor that had none. */
export async function upsertCredential(
  trx: Trx,
  factorId: string,
  values: NewCredential,
  now: Date,
): Promise<void> {
  await withCredential(trx, factorId, values, now).execute()
}

/**
 * Records a use of the credential. Returns false when the signature counter has not increased (WebAuthn Level 3 §6.1.1;
 * a counter that stays zero is unsupported). One statement, so that of concurrent responses with one counter a single
 * one is accepted.
 */
export async function updateSignCount(
  trx: Trx,
  factorId: string,
  { counter, ...values }: NewCredential & { counter: number },
  now: Date,
): Promise<boolean> {
  const stored = sql`coalesce((web_authn_credential -> 'authenticator' ->> 'signCount')::bigint, 0)`
  const result = await withCredential(trx, factorId, values, now)
    .where(sql<boolean>`(${stored} < ${counter} or (${stored} = 0 and ${counter} = 0))`)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Records a signature counter regression, a sign of a cloned authenticator. The counter stays as it is. */
export async function markSignCountRegression(
  trx: Trx,
  factorId: string,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('mfa_factors')
    .set({
      web_authn_credential: sql`jsonb_set(web_authn_credential, '{authenticator,cloneWarning}', 'true')`,
      updated_at: now,
    })
    .where('id', '=', factorId)
    .execute()
}
