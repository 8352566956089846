/** Our own tables: queued emails, send limits, throttles and signing keys. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await limits(db)
  await mailMessages(db)
  await signingKeys(db)
  await sql`alter table postern_migrations enable row level security`.execute(db)
  await sql`alter table postern_migration_lock enable row level security`.execute(db)
}

async function limits(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_send_intervals', {
    key: 'text primary key',
    sent_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_send_quotas', {
    channel: 'text primary key',
    tokens: 'double precision not null',
    refilled_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_throttles', {
    key: 'text primary key',
    failures: 'integer not null',
    blocked_until: 'timestamptz',
    updated_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_send_intervals_sent_at_idx
      on postern_send_intervals (sent_at)`,
    'create index if not exists postern_throttles_updated_at_idx on postern_throttles (updated_at)',
  ])
}

/** `payload` is encrypted JSON: it has addresses and valid links. */
async function mailMessages(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_mail_messages', {
    id: 'uuid primary key',
    kind: 'text not null',
    payload: 'text not null',
    state: "text not null check (state in ('queued', 'sending', 'sent', 'dead'))",
    attempts: 'integer not null default 0',
    reason: 'text',
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
    expires_at: 'timestamptz',
    sent_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_mail_messages_state_idx
      on postern_mail_messages (state, created_at)`,
  ])
}

/** `private_jwk` is encrypted. The partial index allows one current key. */
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
  await ensureIndexes(db, [
    `create unique index if not exists postern_signing_keys_current_key
      on postern_signing_keys (state) where state = 'current'`,
  ])
}
