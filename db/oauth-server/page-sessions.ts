/** Sessions of the hosted pages. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { PageSessionsTable } from '../tables/oauth-server.ts'

type PageSession = PageSessionsTable

export async function insertPageSession(db: Db, session: PageSession): Promise<void> {
  await db.insertInto('postern_page_sessions').values(session).execute()
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
