/**
 * The event stream. Statements insert events into the outbox, whose only index is its key. One process at a time
 * assigns positions, so that positions become visible in order and a reader by position misses none.
 */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_event_inbox', {
    seq: 'bigint generated always as identity primary key',
    id: 'uuid not null',
    type: 'text not null',
    user_id: 'uuid',
    data: 'jsonb not null',
    created_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_events', {
    position: 'bigint generated always as identity primary key',
    id: 'uuid not null unique',
    type: 'text not null',
    user_id: 'uuid',
    data: 'jsonb not null',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_events_user_idx
      on postern_events (user_id, position) where user_id is not null`,
    'create index if not exists postern_events_created_at_idx on postern_events (created_at)',
  ])
}
