/**
 * Moves our columns in GoTrue's tables to tables of our own: GoTrue must not find unknown columns. A flow or challenge
 * whose session has ended stays marked as ours, so that it is not taken for GoTrue's.
 */
import { sql } from 'kysely'

import { ensureTable, hasColumn, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await tokens(db)
  await dropIfThere(db, 'users', 'postern_name')
  await outliveSession(db, 'postern_flows')
  await outliveSession(db, 'postern_factor_challenges')
  await outliveSession(db, 'postern_passkey_challenges')
}

/** A token of GoTrue's gets a row, without an expiry, at the first attempt. */
async function tokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_one_time_tokens', {
    token_id: 'uuid primary key references one_time_tokens (id) on delete cascade',
    expires_at: 'timestamptz',
    failed_attempts: 'smallint not null default 0',
  })
  // Both columns are ours if the second exists: a lone `expires_at` is GoTrue's (release 2.197).
  if (!(await hasColumn(db, 'one_time_tokens', 'failed_attempts'))) return
  await sql`insert into postern_one_time_tokens (token_id, expires_at, failed_attempts)
    select id, expires_at, failed_attempts from one_time_tokens on conflict do nothing`.execute(db)
  await sql`alter table one_time_tokens drop column expires_at, drop column failed_attempts`.execute(
    db,
  )
}

async function dropIfThere(db: MigrationDb, table: string, column: string): Promise<void> {
  if (!(await hasColumn(db, table, column))) return
  await sql`alter table ${sql.ref(table)} drop column ${sql.ref(column)}`.execute(db)
}

async function outliveSession(db: MigrationDb, table: string): Promise<void> {
  const name = sql.ref(`${table}_session_id_fkey`)
  await sql`alter table ${sql.ref(table)} alter column session_id drop not null,
    drop constraint if exists ${name},
    add constraint ${name} foreign key (session_id) references sessions (id) on delete set null`.execute(
    db,
  )
}
