/** The key pairs of security keys that are second factors. */
import { sql } from 'kysely'

import type { Trx } from './database.ts'

interface PutCredential {
  credential: object
  aaguid: string | null
}

const withCredential = (
  trx: Trx,
  factorId: string,
  { credential, aaguid }: PutCredential,
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

/** The key of a factor that had none. */
export async function putCredential(
  trx: Trx,
  factorId: string,
  put: PutCredential,
  now: Date,
): Promise<void> {
  await withCredential(trx, factorId, put, now).execute()
}

/**
 * Notes a use of the key; false when the signature counter has not risen since the last one (WebAuthn Level 3 §6.1.1; one
 * that stays at zero is none). One statement, so that of two answers with one counter a single one counts.
 */
export async function advanceCredential(
  trx: Trx,
  factorId: string,
  { counter, ...put }: PutCredential & { counter: number },
  now: Date,
): Promise<boolean> {
  const stored = sql`coalesce((web_authn_credential -> 'authenticator' ->> 'signCount')::bigint, 0)`
  const result = await withCredential(trx, factorId, put, now)
    .where(sql<boolean>`(${stored} < ${counter} or (${stored} = 0 and ${counter} = 0))`)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Notes that there is a copy of the key; its counter stays what it is by now. */
export async function markCloned(trx: Trx, factorId: string, now: Date): Promise<void> {
  await trx
    .updateTable('mfa_factors')
    .set({
      web_authn_credential: sql`jsonb_set(web_authn_credential, '{authenticator,cloneWarning}', 'true')`,
      updated_at: now,
    })
    .where('id', '=', factorId)
    .execute()
}
