import type { ColumnType } from 'kysely'

export interface AuditLogEntriesTable {
  instance_id: string | null
  id: string
  payload: ColumnType<AuditPayload, string, never>
  created_at: Date | null
  ip_address: string
}

type ActorType = 'user' | 'admin' | 'service' | 'scim' | 'client' | 'anonymous' | 'system'

/** Who acted (schemas/values/acting.ts). */
export interface AuditActing {
  actor: { type: ActorType; id: string | null; role?: string }
  /** The impersonating admin. */
  act?: { sub: string }
}

/** Entries of GoTrue and of earlier releases have no `actor`. */
export interface AuditPayload extends Partial<AuditActing> {
  actor_id: string
  actor_via_sso: boolean
  actor_username: string
  actor_name?: string
  action: string
  log_type: string
  traits?: Record<string, unknown>
}
