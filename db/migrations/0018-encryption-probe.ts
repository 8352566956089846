/** One encrypted value that is decrypted at every start, to detect a wrong key. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_encryption_probe', {
    id: 'uuid primary key',
    value: 'text not null',
  })
}
