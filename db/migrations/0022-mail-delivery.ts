/** The user of an email, and its delivery status in the words of the mail server. */
import { sql } from 'kysely'

import { ensureIndexes, type MigrationDb } from './ensure.ts'

/** No reference to the user: the email about a deletion outlives the user. It is deleted with all old emails. */
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
