import { type ColumnType, type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import { nilUuid } from './users.ts'

export interface AuditLogEntriesTable {
  instance_id: string | null
  id: string
  payload: ColumnType<AuditPayload, string, never>
  created_at: Date | null
  ip_address: string
}

export interface AuditPayload {
  actor_id: string
  actor_via_sso: boolean
  actor_username: string
  actor_name?: string
  action: string
  log_type: string
  traits?: Record<string, unknown>
}

export interface AuditEntry {
  payload: AuditPayload
  ip_address: string
}

export async function insertAuditEntry(db: Db, entry: AuditEntry, now: Date): Promise<void> {
  await auditInsert(db, entry, now).execute()
}

/** The insert as a building block for a statement that records itself; without an entry it adds none. */
export function auditInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  entry: AuditEntry | undefined,
  now: Date,
) {
  return db
    .insertInto('audit_log_entries')
    .columns(['instance_id', 'id', 'payload', 'created_at', 'ip_address'])
    .expression(
      db
        .selectNoFrom([
          sql`${nilUuid}::uuid`.as('instance_id'),
          sql`gen_random_uuid()`.as('id'),
          sql`${JSON.stringify(entry?.payload ?? {})}::json`.as('payload'),
          sql`${now}::timestamptz`.as('created_at'),
          sql`${entry?.ip_address ?? ''}::text`.as('ip_address'),
        ])
        .where(sql<boolean>`${entry !== undefined}::boolean`),
    )
}
