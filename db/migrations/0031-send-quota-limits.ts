/** The limit of a quota at its last use, so that a changed limit applies at once. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_send_quotas', { quota: 'integer' })
}
