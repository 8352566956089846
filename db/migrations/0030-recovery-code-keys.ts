/** The key that each recovery code was hashed with, so that an old key can be retired. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_recovery_codes', { key_id: 'text' })
}
