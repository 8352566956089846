/** Sessions of the hosted pages. */
import type { Db } from '../core/database.ts'
import type { PageSessionsTable } from '../tables/oauth-server.ts'

export type PageSession = PageSessionsTable

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

/** Records a use of the session and its new expiry. */
export async function touchPageSession(
  db: Db,
  id: string,
  expiresAt: Date,
  now: Date,
): Promise<void> {
  await db
    .updateTable('postern_page_sessions')
    .set({ last_used_at: now, expires_at: expiresAt })
    .where('id', '=', id)
    .execute()
}
