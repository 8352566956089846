/** Sessions of the hosted pages, and the forms that were submitted in them. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { PageSessionsTable, PageSubmissionsTable } from '../tables/sessions.ts'

type PageSession = PageSessionsTable

/** Inserts nothing for a user who was banned since the session was created. */
export async function insertPageSession(db: Db, session: PageSession, now: Date): Promise<void> {
  const { id, session_id, created_at, last_used_at, expires_at } = session
  await db
    .insertInto('postern_page_sessions')
    .columns(['id', 'session_id', 'created_at', 'last_used_at', 'expires_at'])
    .expression((eb) =>
      eb
        .selectFrom('sessions')
        .innerJoin('users', 'users.id', 'sessions.user_id')
        .select([
          eb.val(id).as('id'),
          'sessions.id as session_id',
          sql`${created_at}::timestamptz`.as('created_at'),
          sql`${last_used_at}::timestamptz`.as('last_used_at'),
          sql`${expires_at}::timestamptz`.as('expires_at'),
        ])
        .where('sessions.id', '=', session_id)
        .where(sql<boolean>`coalesce(users.banned_until <= ${now}, true)`)
        // A ban locks the user, and then deletes the page sessions that there are.
        .forShare('users'),
    )
    .execute()
}

/** Deletes those of a user. */
export async function deletePageSessions(db: Db, userId: string): Promise<void> {
  await db
    .deleteFrom('postern_page_sessions')
    .using('sessions')
    .whereRef('sessions.id', '=', 'postern_page_sessions.session_id')
    .where('sessions.user_id', '=', userId)
    .execute()
}

/** The session of a cookie, unless it has expired. */
export function findPageSession(db: Db, id: string, now: Date): Promise<PageSession | undefined> {
  return db
    .selectFrom('postern_page_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Records a use of the page session, with its new expiry, and of its session. */
export async function touchPageSession(
  db: Db,
  { id, session_id }: Pick<PageSession, 'id' | 'session_id'>,
  expiresAt: Date,
  now: Date,
): Promise<void> {
  // The session is locked first, in the order in which it is revoked. The other order could deadlock.
  await db
    .with('used', (eb) =>
      eb
        .updateTable('sessions')
        .set({ refreshed_at: sql`${now}::timestamptz at time zone 'utc'`, updated_at: now })
        .where('id', '=', session_id)
        .returning('id as used_id'),
    )
    .updateTable('postern_page_sessions')
    .from('used')
    .set({ last_used_at: now, expires_at: expiresAt })
    .where('id', '=', id)
    .whereRef('session_id', '=', 'used.used_id')
    .execute()
}

/** A form with the values that were submitted. */
export type PageSubmission = Pick<PageSubmissionsTable, 'slot' | 'id'>

/** Returns false for a submission that was made before and has not expired. */
export async function claimPageSubmission(
  db: Db,
  submission: PageSubmission,
  expiresAt: Date,
  now: Date,
): Promise<boolean> {
  const values = { ...submission, answer: null, expires_at: expiresAt }
  const result = await db
    .insertInto('postern_page_submissions')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .column('slot')
        .doUpdateSet(values)
        .where((eb) =>
          eb.or([
            eb('postern_page_submissions.id', '!=', submission.id),
            eb('postern_page_submissions.expires_at', '<=', now),
          ]),
        ),
    )
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Undefined for one that was never made, has expired or was replaced. */
export function findPageSubmission(
  db: Db,
  { slot, id }: PageSubmission,
  now: Date,
): Promise<Pick<PageSubmissionsTable, 'answer'> | undefined> {
  return db
    .selectFrom('postern_page_submissions')
    .select('answer')
    .where('slot', '=', slot)
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Stores the answer, unless another submission has replaced this one. */
export async function storePageAnswer(
  db: Db,
  { slot, id }: PageSubmission,
  answer: string,
  expiresAt: Date,
): Promise<void> {
  await db
    .updateTable('postern_page_submissions')
    .set({ answer, expires_at: expiresAt })
    .where('slot', '=', slot)
    .where('id', '=', id)
    .execute()
}

/** The form can be submitted again. */
export async function deletePageSubmission(db: Db, { slot, id }: PageSubmission): Promise<void> {
  await db
    .deleteFrom('postern_page_submissions')
    .where('slot', '=', slot)
    .where('id', '=', id)
    .execute()
}
