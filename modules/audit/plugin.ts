/** The state of the audit log: its destinations. */
import type { FastifyInstance } from 'fastify'

import { defineModule } from '../../plugins/define-plugin.ts'
import type { AuditSettings } from './entry.ts'

declare module 'fastify' {
  interface FastifyInstance {
    audit: AuditSettings
  }
}

function createAudit({ config, events, log, telemetry }: FastifyInstance) {
  // As in request lines: an action, an id and an IP address need no redaction.
  const lines = log.child({}, { redact: [] })
  const stored = !config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  return { stored, log: lines, metrics: telemetry.metrics, events }
}

export default defineModule('audit', createAudit)
