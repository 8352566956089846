/** Queued emails, events, and webhooks with their deliveries. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await mailMessages(db)
  await events(db)
  await webhooks(db)
  await deliveries(db)
}

/**
 * `payload` is encrypted JSON: it has addresses and valid links. `outcome` and `response` are the delivery status in the
 * words of the mail server. No reference to the user: the email about a deletion outlives the user. It is deleted with
 * all old emails.
 */
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
    user_id: 'uuid',
    locale: 'text',
    outcome: 'text',
    response: 'text',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_mail_messages_state_idx
      on postern_mail_messages (state, created_at)`,
    `create index if not exists postern_mail_messages_user_idx
      on postern_mail_messages (user_id, created_at)`,
  ])
}

/**
 * Statements insert events into the outbox, whose only index is its key. One process at a time assigns positions, so
 * that positions become visible in order and a reader by position misses none.
 */
async function events(db: MigrationDb): Promise<void> {
  const event = {
    id: 'uuid not null',
    type: 'text not null',
    user_id: 'uuid',
    data: 'jsonb not null',
    created_at: 'timestamptz not null',
  }
  await ensureTable(db, 'postern_event_inbox', {
    seq: 'bigint generated always as identity primary key',
    ...event,
  })
  await ensureTable(db, 'postern_events', {
    position: 'bigint generated always as identity primary key',
    ...event,
    id: 'uuid not null unique',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_events_user_idx
      on postern_events (user_id, position) where user_id is not null`,
    'create index if not exists postern_events_created_at_idx on postern_events (created_at)',
  ])
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
