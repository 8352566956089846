/** Effects of a verified factor on the session, and on the other sessions of the user. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { secondFactorMethods } from '../tables/factors.ts'

/** The increment of the refresh token counter, as in GoTrue. */
export const raisedBy = 2

interface StepUpValues {
  sessionId: string
  userId: string
  /** Added to the session's amr, once per session. */
  method: string
  /** Null keeps the factor of the session. */
  factorId: string | null
  /** The refresh token key for a session that has none yet, encrypted. */
  newKey: string
}

/**
 * Steps the session up to aal2 in one statement. Returns false when it has ended. The counter increases by `raisedBy`,
 * so that the previous refresh token is not accepted as one whose response was lost; tokens of the older format are
 * revoked.
 */
export async function stepUpSession(trx: Trx, step: StepUpValues, now: Date): Promise<boolean> {
  const raised = await trx
    .with('raised', (eb) => raiseSession(eb, step, now))
    .with('consumed', (eb) =>
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
          sql<string>`${step.method}`.as('authentication_method'),
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

function raiseSession(
  db: QueryCreator<Database>,
  { sessionId, userId, factorId, newKey }: StepUpValues,
  now: Date,
) {
  return db
    .updateTable('sessions')
    .set({
      aal: 'aal2',
      factor_id: sql`coalesce(${factorId}::uuid, factor_id)`,
      refresh_token_hmac_key: sql`coalesce(refresh_token_hmac_key, ${newKey})`,
      refresh_token_counter: sql`coalesce(refresh_token_counter, 0) + ${raisedBy}`,
      refreshed_at: sql`${now}::timestamptz at time zone 'utc'`,
      updated_at: now,
    })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .returning('id')
}

/** True when the last write of the session's time was a step-up and not a refresh. */
export async function wasSteppedUpLast(db: Db, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('mfa_amr_claims', 'mfa_amr_claims.session_id', 'sessions.id')
    .select('sessions.id')
    .where('sessions.id', '=', sessionId)
    .where('authentication_method', 'in', secondFactorMethods)
    .where(sql<boolean>`mfa_amr_claims.updated_at at time zone 'utc' = sessions.refreshed_at`)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes the user's other sessions below aal2, except those of OAuth clients. Returns their ids. */
export async function deleteSessionsBelowAal2(
  db: Db,
  userId: string,
  except: string,
): Promise<string[]> {
  const rows = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '<>', except)
    .where(sql<boolean>`coalesce(aal, 'aal1') = 'aal1'`)
    .where('oauth_client_id', 'is', null)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
