/** Whom a mail is about, and what became of it, in the mail server's words. */
import { sql } from 'kysely'

import { ensureIndexes, type MigrationDb } from './ensure.ts'

/** No reference to the person: the mail that tells of a deletion outlives them. Its row goes with all old mail. */
export async function up(db: MigrationDb): Promise<void> {
  await sql`
    alter table postern_mail_messages
      add column if not exists user_id uuid,
      add column if not exists locale text,
      add column if not exists outcome text,
      add column if not exists response text`.execute(db)
  await ensureIndexes(db, [
    `create index if not exists postern_mail_messages_user_idx
      on postern_mail_messages (user_id, created_at)`,
  ])
}
