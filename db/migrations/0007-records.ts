/** The audit log, and two tables that GoTrue expects after a rollback to it. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'audit_log_entries', {
    instance_id: 'uuid',
    id: 'uuid not null primary key',
    payload: 'json',
    created_at: 'timestamptz',
    ip_address: "varchar(64) not null default ''",
  })
  await ensureTable(db, 'instances', {
    id: 'uuid not null primary key',
    uuid: 'uuid',
    raw_base_config: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  })
  await ensureTable(db, 'schema_migrations', { version: 'varchar(14) not null primary key' })
  await ensureIndexes(db, [
    'create index if not exists audit_logs_instance_id_idx on audit_log_entries (instance_id)',
  ])
}
