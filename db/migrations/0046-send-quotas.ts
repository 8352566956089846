/** Send quotas get rows per client and per recipient, which are deleted when they are old. */
import { ensureIndexes, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureIndexes(db, [
    `create index if not exists postern_send_quotas_refilled_at_idx
      on postern_send_quotas (refilled_at)`,
  ])
}
