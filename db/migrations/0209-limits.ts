/** Limits on attempts and messages. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await sendLimits(db)
  await throttles(db)
}

/** Quotas have rows per client and per recipient. `quota` is the limit at the last use: a changed one applies at once. */
async function sendLimits(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_send_intervals', {
    key: 'text primary key',
    sent_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_send_quotas', {
    channel: 'text primary key',
    tokens: 'double precision not null',
    refilled_at: 'timestamptz not null',
    quota: 'integer',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_send_intervals_sent_at_idx
      on postern_send_intervals (sent_at)`,
    `create index if not exists postern_send_quotas_refilled_at_idx
      on postern_send_quotas (refilled_at)`,
  ])
}

/** Failed attempts, reset after an hour, and those of the day. */
async function throttles(db: MigrationDb): Promise<void> {
  const isNew = await ensureTable(db, 'postern_throttles', {
    key: 'text primary key',
    failures: 'integer not null',
    blocked_until: 'timestamptz',
    updated_at: 'timestamptz not null',
    day_failures: 'integer not null default 0',
    day_began_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_throttles_updated_at_idx on postern_throttles (updated_at)',
  ])
  // Written before every attempt. An unlogged table needs no disk flush; a crash of the database loses the counts of
  // the last hour.
  if (isNew) await sql`alter table postern_throttles set unlogged`.execute(db)
}
