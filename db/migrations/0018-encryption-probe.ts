/** One encrypted value that every start tries to read, so that a wrong key is noticed before it does harm. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_encryption_probe', {
    id: 'uuid primary key',
    value: 'text not null',
  })
}
