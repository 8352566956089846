/**
 * Identifiers confirmed without verification (AUTH_MAILER_AUTOCONFIRM, AUTH_SMS_AUTOCONFIRM). Those confirmed by
 * earlier versions or by GoTrue are recognized by what is missing: nothing was ever sent, and no provider verified
 * them.
 */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  const columns = {
    user_id: 'uuid not null references users (id) on delete cascade',
    address: 'text not null',
    created_at: 'timestamptz not null',
  }
  await ensureTable(db, 'postern_autoconfirmed_addresses', columns, [
    'primary key (user_id, address)',
  ])
  await sql`
    insert into postern_autoconfirmed_addresses (user_id, address, created_at)
    select id, email, email_confirmed_at from users
    where email <> '' and email_confirmed_at is not null and not is_sso_user
      and confirmation_sent_at is null and recovery_sent_at is null
      and email_change_sent_at is null and invited_at is null
      and raw_user_meta_data ->> 'sub' = id::text
      and not exists (
        select from identities
        where identities.user_id = users.id and identities.email = users.email
          and identities.identity_data ->> 'email_verified' = 'true')
    on conflict do nothing`.execute(db)
}
