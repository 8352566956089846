/**
 * GoTrue must not meet a column that it does not know: what was left of ours in its tables goes into tables of our own.
 * And a flow or challenge whose session has ended stays known as one of ours, so that it is not taken for GoTrue's.
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

/** A token of GoTrue's has no row before it was guessed at, and then one without an expiry. */
async function tokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_one_time_tokens', {
    token_id: 'uuid primary key references one_time_tokens (id) on delete cascade',
    expires_at: 'timestamptz',
    failed_attempts: 'smallint not null default 0',
  })
  if (!(await hasColumn(db, 'one_time_tokens', 'expires_at'))) return
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
