/** The audit trail: who did what, in the transaction of what it records and as one log line. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { type AuditEntry, insertAuditEntry } from '../db/audit-log-entries.ts'
import type { Db } from '../db/database.ts'
import { nilUuid } from '../db/users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    audit: ReturnType<typeof createAudit>
  }
}

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
  factor_updated: 'factor',
  factor_deleted: 'factor',
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

/** An admin token acts without a person behind it; its role is its name. */
export function adminActor(role: string): Actor {
  return { id: nilUuid, email: role, phone: null, is_sso_user: false }
}

interface AuditDeps {
  /** False with AUTH_AUDIT_LOG_DISABLE_POSTGRES: then the log line is the record. */
  stored: boolean
  log: Pick<FastifyBaseLogger, 'info'>
  metrics: Pick<FastifyInstance['metrics'], 'count'>
}

export function createAudit({ stored, log, metrics }: AuditDeps) {
  function entry(
    action: AuditAction,
    actor: Actor,
    ip: string,
    traits?: Record<string, unknown>,
  ): AuditEntry | undefined {
    log.info({ audit: { action, actor_id: actor.id, ip } }, `audit: ${action}`)
    metrics.count('postern.events', { action })
    if (!stored) return undefined
    const name = actor.raw_user_meta_data?.full_name
    return {
      ip_address: ip,
      payload: {
        actor_id: actor.id,
        actor_via_sso: actor.is_sso_user,
        actor_username: actor.phone || actor.email || '',
        ...(typeof name === 'string' && { actor_name: name }),
        action,
        log_type: logTypes[action],
        ...(traits && { traits }),
      },
    }
  }

  return {
    stored,
    adminActor,
    /** For statements that write the entry themselves. */
    entry,
    async record(
      db: Db,
      action: AuditAction,
      actor: Actor,
      { ip, now, traits }: { ip: string; now: Date; traits?: Record<string, unknown> },
    ): Promise<void> {
      const made = entry(action, actor, ip, traits)
      if (made) await insertAuditEntry(db, made, now)
    },
  }
}

async function audit(fastify: FastifyInstance) {
  const stored = !fastify.config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  const { log, metrics } = fastify
  fastify.decorate('audit', createAudit({ stored, log, metrics }))
}

export default fp(audit, {
  name: 'audit',
  fastify: '5.x',
  dependencies: ['config', 'telemetry'],
})
