/** Failed attempts per day, in addition to the count that is reset after an hour. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_throttles', {
    day_failures: 'integer not null default 0',
    day_began_at: 'timestamptz',
  })
}
