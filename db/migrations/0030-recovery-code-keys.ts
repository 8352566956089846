/** Which key a recovery code was hashed with, so that it is known when an old key may go. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_recovery_codes', { key_id: 'text' })
}
