/** Webhooks and their deliveries. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await webhooks(db)
  await deliveries(db)
}

/** `secrets` is encrypted JSON, empty for a webhook of the configuration. An empty `events` subscribes to all types. */
async function webhooks(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_webhooks', {
    id: 'uuid primary key',
    source: "text not null check (source in ('environment', 'api'))",
    url: 'text not null',
    description: "text not null default ''",
    events: "text[] not null default '{}'",
    secrets: "text not null default ''",
    state: "text not null check (state in ('active', 'paused'))",
    reason: 'text',
    failures: 'integer not null default 0',
    retry_at: 'timestamptz',
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
  })
}

/** `lane` is the user whose events are delivered in order. Partial indexes find the due and the earlier deliveries. */
async function deliveries(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_webhook_deliveries',
    {
      webhook_id: 'uuid not null references postern_webhooks (id) on delete cascade',
      position: 'bigint not null',
      lane: 'uuid not null',
      state: "text not null check (state in ('waiting', 'delivered', 'dead'))",
      attempts: 'integer not null default 0',
      due_at: 'timestamptz not null',
      leased_until: 'timestamptz',
      first_attempt_at: 'timestamptz',
      last_attempt_at: 'timestamptz',
      delivered_at: 'timestamptz',
      answer: 'jsonb',
    },
    ['primary key (webhook_id, position)'],
  )
  await ensureIndexes(db, [
    `create index if not exists postern_webhook_deliveries_waiting_idx
      on postern_webhook_deliveries (webhook_id, position) where state = 'waiting'`,
    `create index if not exists postern_webhook_deliveries_lane_idx
      on postern_webhook_deliveries (webhook_id, lane, position) where state = 'waiting'`,
    `create index if not exists postern_webhook_deliveries_dead_idx
      on postern_webhook_deliveries (webhook_id, position) where state = 'dead'`,
  ])
}
