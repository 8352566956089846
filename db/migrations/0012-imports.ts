/** Progress of user imports, so that an interrupted import can resume. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_imports', {
    id: 'text primary key',
    settled: 'bigint not null',
    imported: 'bigint not null',
    refused: 'bigint not null',
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
    finished_at: 'timestamptz',
  })
}
