/** What a second factor does to the session it was proven in, and to the others of the person. */
import { sql } from 'kysely'

import type { Db, Trx } from './database.ts'

export interface Upgrade {
  sessionId: string
  userId: string
  /** Noted in the session's amr; it counts once per session. */
  method: string
  /** Null leaves the factor of the session as it is. */
  factorId: string | null
  /** The refresh-token key for a session that has none yet, encrypted. */
  newKey: string
}

/**
 * Raises the session to aal2, in one statement; false when it is gone. Its counter moves by two, so that the refresh
 * token from before is not taken for one whose answer was lost; tokens of the older format are spent.
 */
export async function raiseSession(
  trx: Trx,
  { sessionId, userId, method, factorId, newKey }: Upgrade,
  now: Date,
): Promise<boolean> {
  const raised = await trx
    .with('raised', (eb) =>
      eb
        .updateTable('sessions')
        .set({
          aal: 'aal2',
          factor_id: sql`coalesce(${factorId}::uuid, factor_id)`,
          refresh_token_hmac_key: sql`coalesce(refresh_token_hmac_key, ${newKey})`,
          refresh_token_counter: sql`coalesce(refresh_token_counter, 0) + 2`,
          refreshed_at: sql`${now}::timestamptz at time zone 'utc'`,
          updated_at: now,
        })
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .returning('id'),
    )
    .with('spent', (eb) =>
      eb
        .updateTable('refresh_tokens')
        .set({ revoked: true, updated_at: now })
        .where('session_id', 'in', (raisedIn) => raisedIn.selectFrom('raised').select('raised.id'))
        .where(sql<boolean>`revoked is not true`),
    )
    .insertInto('mfa_amr_claims')
    .columns(['id', 'session_id', 'authentication_method', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom('raised')
        .select([
          sql<string>`gen_random_uuid()`.as('id'),
          'raised.id as session_id',
          sql<string>`${method}`.as('authentication_method'),
          sql<Date>`${now}::timestamptz`.as('created_at'),
          sql<Date>`${now}::timestamptz`.as('updated_at'),
        ]),
    )
    .onConflict((conflict) =>
      conflict
        .constraint('mfa_amr_claims_session_id_authentication_method_pkey')
        .doUpdateSet({ updated_at: now }),
    )
    .returning('session_id')
    .executeTakeFirst()
  return raised !== undefined
}

/** Ends the other sessions of the person that no second factor was proven in. Returns their ids. */
export async function deleteLowSessions(db: Db, userId: string, except: string): Promise<string[]> {
  const rows = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '<>', except)
    .where(sql<boolean>`coalesce(aal, 'aal1') = 'aal1'`)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
