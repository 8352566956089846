/** Of how many messages a quota was when it was last counted, so that a changed limit holds at once. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_send_quotas', { quota: 'integer' })
}
