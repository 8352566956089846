/** The state of the audit log: its destinations. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import type { AuditSettings } from './entry.ts'

declare module 'fastify' {
  interface FastifyInstance {
    audit: AuditSettings
  }
}

const deps = ['config', 'events', 'log', 'telemetry'] as const

function createAudit({ config, events, log, telemetry }: Deps<(typeof deps)[number]>) {
  // As in request lines: an action, an id and an IP address need no redaction.
  const lines = log.child({}, { redact: [] })
  const stored = !config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  return { stored, log: lines, metrics: telemetry.metrics, events }
}

export default definePlugin({ name: 'audit', deps, create: createAudit })
