/** The audit log and counts, signing keys, and what the server keeps about its own work. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await auditLog(db)
  await usageCounts(db)
  await signingKeys(db)
  await work(db)
}

async function auditLog(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'audit_log_entries', {
    instance_id: 'uuid',
    id: 'uuid not null primary key',
    payload: 'json',
    created_at: 'timestamptz',
    ip_address: "varchar(64) not null default ''",
  })
  await ensureIndexes(db, [
    'create index if not exists audit_logs_instance_id_idx on audit_log_entries (instance_id)',
  ])
}

/** How often something happened in each hour: sign-ins, rejected requests and calls of hooks, for the console. */
async function usageCounts(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_usage_counts',
    {
      hour: 'timestamptz not null',
      kind: 'text not null',
      name: 'text not null',
      outcome: 'text not null',
      count: 'bigint not null',
    },
    ['primary key (hour, kind, name, outcome)'],
  )
}

/**
 * `private_jwk` is encrypted. The partial index allows one current key. The probe is one encrypted value that is
 * decrypted at every start, to detect a wrong encryption key.
 */
async function signingKeys(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_signing_keys', {
    kid: 'text primary key',
    alg: 'text not null',
    state: "text not null check (state in ('standby', 'current', 'previous', 'revoked'))",
    private_jwk: 'text not null',
    public_jwk: 'jsonb not null',
    created_at: 'timestamptz not null',
    activates_at: 'timestamptz',
    retires_at: 'timestamptz',
    revoked_at: 'timestamptz',
  })
  await ensureTable(db, 'postern_encryption_probe', {
    id: 'uuid primary key',
    value: 'text not null',
  })
  await ensureIndexes(db, [
    `create unique index if not exists postern_signing_keys_current_key
      on postern_signing_keys (state) where state = 'current'`,
  ])
}

/** The progress of user imports, so that an interrupted one can resume, and the time of the last cleanup. */
async function work(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_imports', {
    id: 'text primary key',
    settled: 'bigint not null',
    imported: 'bigint not null',
    refused: 'bigint not null',
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
    finished_at: 'timestamptz',
  })
  await ensureTable(db, 'postern_clean_up_runs', {
    kind: 'text primary key',
    ended_at: 'timestamptz not null',
  })
  // A new installation is not late for its first cleanup.
  await sql`
    insert into postern_clean_up_runs (kind, ended_at) values ('rows', now())
    on conflict do nothing`.execute(db)
}
