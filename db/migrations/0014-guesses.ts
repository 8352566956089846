/** Throttling: devices that users signed in from, and dummy rows that equalize the writes of failed attempts. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

/** As db/tokens/attempts.ts numbers them. */
const dummies = 1024

export async function up(db: MigrationDb): Promise<void> {
  const columns = {
    user_id: 'uuid not null references users (id) on delete cascade',
    device_hash: 'text not null',
    last_used_at: 'timestamptz not null',
  }
  await ensureTable(db, 'postern_known_devices', columns, ['primary key (user_id, device_hash)'])
  await ensureIndexes(db, [
    `create index if not exists postern_known_devices_last_used_at_idx
      on postern_known_devices (last_used_at)`,
  ])
  await dummyTokens(db)
  // Written before every attempt. An unlogged table needs no disk flush; a crash of the database loses the counts of
  // the last hour.
  await sql`alter table postern_throttles set unlogged`.execute(db)
}

async function dummyTokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_decoy_tokens', {
    slot: 'smallint primary key',
    failed_attempts: 'bigint not null default 0',
  })
  await sql`alter table postern_decoy_tokens set (fillfactor = 50)`.execute(db)
  await sql`insert into postern_decoy_tokens (slot) select generate_series(0, ${sql.lit(dummies - 1)})
    on conflict do nothing`.execute(db)
}
