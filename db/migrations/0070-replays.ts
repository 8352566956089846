/** Keys of signed messages and assertions that were accepted, to reject replays until they expire. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_replays', {
    key: 'text primary key',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_replays_expires_at_idx on postern_replays (expires_at)',
  ])
}
