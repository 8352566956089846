/** The audit log: each action is stored in its transaction, logged as one line, counted, and emitted as events. */
import type { FastifyBaseLogger } from 'fastify'

import { insertAuditEntry, type NewAuditLogEntry } from '../../db/audit/audit-log-entries.ts'
import type { Db } from '../../db/core/database.ts'
import { nilUuid } from '../../db/tables/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { type AuditAction, logTypes } from './actions.ts'
import { createAuditEvents } from './entry-events.ts'

/** The columns that name the actor. */
export interface Actor {
  id: string
  email: string | null
  phone: string | null
  is_sso_user: boolean
  raw_user_meta_data?: Record<string, unknown> | null
}

export interface AuditSettings {
  /** False with AUTH_AUDIT_LOG_DISABLE_POSTGRES: the log line is the only record. */
  stored: boolean
  log: Pick<FastifyBaseLogger, 'info'>
  metrics: Pick<Deps<'telemetry'>['telemetry']['metrics'], 'count'>
  events: Pick<Deps<'events'>['events'], 'draft'>
}

/** In characters. Users choose their name, which is part of each of their entries. */
const maxNameLength = 255

/** An admin token has no user; the role is the name of the actor. */
export function adminActor(role: string): Actor {
  return { id: nilUuid, email: role, phone: null, is_sso_user: false }
}

/** Logs and counts the action. Returns the entry for statements that insert it themselves. */
export function createAuditEntry(
  { stored, log, metrics, events }: AuditSettings,
  action: AuditAction,
  actor: Actor,
  ip: string,
  traits?: Record<string, unknown>,
): NewAuditLogEntry {
  log.info({ audit: { action, actor_id: actor.id, ip } }, `audit: ${action}`)
  metrics.count('postern.audit_log_entries', { action })
  const drafts = createAuditEvents(events, action, actor.id, traits)
  if (!stored) return { entry: undefined, events: drafts }
  const name = actor.raw_user_meta_data?.full_name
  const payload = {
    actor_id: actor.id,
    actor_via_sso: actor.is_sso_user,
    actor_username: actor.phone || actor.email || '',
    ...(typeof name === 'string' && { actor_name: shortened(name) }),
    action,
    log_type: logTypes[action],
    ...(traits && { traits }),
  }
  return { entry: { ip_address: ip, payload }, events: drafts }
}

/** A cut may leave half of a surrogate pair, which Postgres cannot store. */
function shortened(name: string): string {
  if (name.length <= maxNameLength) return name
  return `${name.slice(0, maxNameLength - 1).toWellFormed()}…`
}

/** Client address and time of a request. */
export interface AuditContext {
  ip: string
  now: Date
}

/** Logs, counts and stores the action. */
export async function recordAudit(
  settings: AuditSettings,
  db: Db,
  action: AuditAction,
  actor: Actor,
  { ip, now, traits }: AuditContext & { traits?: Record<string, unknown> },
): Promise<void> {
  await insertAuditEntry(db, createAuditEntry(settings, action, actor, ip, traits), now)
}
