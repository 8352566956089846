/** Settings that owners change while the server runs, and every change of them. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_settings', {
    name: 'text primary key',
    value: 'text not null',
    updated_at: 'timestamptz not null',
    updated_by: 'text',
  })
  await ensureTable(db, 'postern_setting_changes', {
    id: 'bigint generated always as identity primary key',
    name: 'text not null',
    before: 'text',
    after: 'text',
    changed_at: 'timestamptz not null',
    changed_by: 'text',
    reverts: 'bigint',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_setting_changes_name_idx on postern_setting_changes (name, id)',
  ])
}
