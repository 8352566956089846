import type { ColumnType } from 'kysely'

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
