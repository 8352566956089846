/** WebAuthn credentials of factors. */
import { sql } from 'kysely'

import type { Trx } from '../core/database.ts'

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
