/** The audit trail: who did what, in the transaction of what it records and as one log line; and the events it makes. */
import type { FastifyBaseLogger } from 'fastify'

import { insertAuditEntry, type TrailEntry } from '../../../db/audit-log-entries.ts'
import type { Db } from '../../../db/database.ts'
import { nilUuid } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { eventsOf } from './entry-events.ts'

const logTypes = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  token_refreshed: 'token',
  token_revoked: 'token',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_reauthenticate_requested: 'user',
  user_confirmation_requested: 'user',
  user_repeated_signup: 'user',
  user_updated_password: 'user',
  user_impersonated: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  users_imported: 'team',
  signing_key_rotated: 'team',
  signing_key_imported: 'team',
  signing_key_revoked: 'team',
  api_token_issued: 'team',
  passkey_created: 'user',
  passkey_updated: 'user',
  passkey_deleted: 'user',
  passkey_refused: 'user',
  recovery_codes_created: 'factor',
  recovery_code_used: 'factor',
  recovery_codes_voided: 'factor',
  factor_in_progress: 'factor',
  challenge_created: 'factor',
  verification_attempted: 'factor',
  factor_unenrolled: 'factor',
  factor_refused: 'factor',
  factor_updated: 'factor',
  factor_deleted: 'factor',
  webhook_created: 'team',
  webhook_updated: 'team',
  webhook_deleted: 'team',
  webhook_secret_rotated: 'team',
  webhook_tested: 'team',
  webhook_replayed: 'team',
} as const

export type AuditAction = keyof typeof logTypes

/** The columns that name whoever acted. */
export interface Actor {
  id: string
  email: string | null
  phone: string | null
  is_sso_user: boolean
  raw_user_meta_data?: Record<string, unknown> | null
}

export interface AuditSettings {
  /** False with AUTH_AUDIT_LOG_DISABLE_POSTGRES: then the log line is the record. */
  stored: boolean
  log: Pick<FastifyBaseLogger, 'info'>
  metrics: Pick<House<'telemetry'>['telemetry']['metrics'], 'count'>
  events: Pick<House<'events'>['events'], 'draft'>
}

/** Characters of what people call themselves: it is in each entry of theirs, and they decide how long it is. */
const longestName = 255

/** An admin token acts without a person behind it; its role is its name. */
export function adminActor(role: string): Actor {
  return { id: nilUuid, email: role, phone: null, is_sso_user: false }
}

/** Logs and counts what happened. Returns what is to be written of it, for statements that do so themselves. */
export function entry(
  { stored, log, metrics, events }: AuditSettings,
  action: AuditAction,
  actor: Actor,
  ip: string,
  traits?: Record<string, unknown>,
): TrailEntry {
  log.info({ audit: { action, actor_id: actor.id, ip } }, `audit: ${action}`)
  metrics.count('postern.events', { action })
  const told = eventsOf(events, action, actor.id, traits)
  if (!stored) return { entry: undefined, events: told }
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
  return { entry: { ip_address: ip, payload }, events: told }
}

/** A cut may leave half of a character, which Postgres does not give back as text. */
function shortened(name: string): string {
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName - 1).toWellFormed()}…`
}

/** Logs, counts and stores what happened. */
export async function record(
  settings: AuditSettings,
  db: Db,
  action: AuditAction,
  actor: Actor,
  { ip, now, traits }: { ip: string; now: Date; traits?: Record<string, unknown> },
): Promise<void> {
  await insertAuditEntry(db, entry(settings, action, actor, ip, traits), now)
}
