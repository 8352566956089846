/** How a session was authenticated, and the sign-in methods that the user added within the last day. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { executeStatement, type ParamOf, queryOneOrThrow } from '../core/statement.ts'
import type { SignInMethod } from '../tables/sessions.ts'

export interface SessionProof {
  bySms: boolean
  reauthenticatedAt: Date | null
  /** Methods added after the given time, with the time in seconds since the epoch. */
  added: Partial<Record<SignInMethod, number>>
}

interface ProofQuery {
  userId: string
  /** Null for a token without a session. */
  sessionId: string | null
  addedAfter: Date
}

/** Returns the authentication of the session and the recently added methods. */
export const findSessionProof: (db: Db, query: ProofQuery) => Promise<SessionProof> =
  queryOneOrThrow((db, value: ParamOf<ProofQuery>) => {
    const added = db
      .selectFrom('postern_new_sign_in_methods')
      .select(
        sql<SessionProof['added']>`coalesce(
          json_object_agg(method, floor(extract(epoch from added_at))), '{}')`.as('added'),
      )
      .where('user_id', '=', value('userId'))
      .where('added_at', '>', value('addedAfter'))
    return db
      .selectFrom(added.as('recent'))
      .leftJoin('postern_session_proofs as proof', (join) =>
        join.on('proof.session_id', '=', value('sessionId')),
      )
      .select(['recent.added', 'proof.reauthenticated_at as reauthenticatedAt'])
      .select(sql<boolean>`coalesce(proof.by_sms, false)`.as('bySms'))
  })

/** Records a reauthentication by password or code in this session. */
export const setReauthenticated: (
  db: Db,
  values: { sessionId: string; now: Date },
) => Promise<number> = executeStatement((db, value: ParamOf<{ sessionId: string; now: Date }>) =>
  db
    .insertInto('postern_session_proofs')
    .columns(['session_id', 'reauthenticated_at'])
    // As a select, so that a session that has ended is no foreign key violation.
    .expression((eb) =>
      eb
        .selectFrom('sessions')
        .select(['id', sql<Date>`${value('now')}::timestamptz`.as('reauthenticated_at')])
        .where('id', '=', value('sessionId')),
    )
    .onConflict((conflict) =>
      conflict
        .column('session_id')
        .doUpdateSet({ reauthenticated_at: sql`excluded.reauthenticated_at` }),
    ),
)

interface NewSignInMethod {
  userId: string
  method: SignInMethod
  previousAddress: string | null
  /** A method added before this time is not new. */
  newSince: Date
}

/** Records a new sign-in method. Of two changes of an identifier within a day, the first previous one is kept. */
export async function upsertNewSignInMethod(
  trx: Trx,
  { userId, method, previousAddress, newSince }: NewSignInMethod,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('postern_new_sign_in_methods')
    .values({ user_id: userId, method, added_at: now, previous_address: previousAddress })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'method']).doUpdateSet({
        added_at: now,
        previous_address: sql`case when postern_new_sign_in_methods.added_at > ${newSince}
          then coalesce(postern_new_sign_in_methods.previous_address, excluded.previous_address)
          else excluded.previous_address end`,
      }),
    )
    .execute()
}

/** Returns the email that the user had before a change since the given time. */
export async function findPreviousEmail(
  db: Db,
  userId: string,
  changedSince: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('postern_new_sign_in_methods')
    .select('previous_address')
    .where('user_id', '=', userId)
    .where('method', '=', 'email')
    .where('added_at', '>', changedSince)
    .executeTakeFirst()
  return row?.previous_address ?? undefined
}

/** Records that the pending email change was requested in this session. */
export async function setAsksEmailChange(
  trx: Trx,
  userId: string,
  sessionId: string,
): Promise<void> {
  await trx
    .updateTable('postern_session_proofs')
    .set({ asks_email_change: false })
    .where('asks_email_change', '=', true)
    .where('session_id', 'in', (eb) =>
      eb.selectFrom('sessions').select('id').where('user_id', '=', userId),
    )
    .execute()
  await trx
    .insertInto('postern_session_proofs')
    .values({ session_id: sessionId, by_sms: false, asks_email_change: true })
    .onConflict((conflict) =>
      conflict.column('session_id').doUpdateSet({ asks_email_change: true }),
    )
    .execute()
}

/** Returns the session in which the pending email change was requested. */
export async function findRequestingSession(db: Db, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('postern_session_proofs')
    .innerJoin('sessions', 'sessions.id', 'postern_session_proofs.session_id')
    .select('sessions.id')
    .where('sessions.user_id', '=', userId)
    .where('asks_email_change', '=', true)
    .executeTakeFirst()
  return row?.id
}
