/** The audit trail: who did what, stored, logged and counted. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { difference, keyDifference, personDeleted, personDifference } from './difference.ts'
import { adminActor, entry, record } from './entry.ts'
import { recordAdmin, recordAdminOn } from './record-admin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    audit: ReturnType<typeof createAudit>
  }
}

type Needs = (typeof needs)[number]

const needs = ['config', 'events', 'log', 'telemetry'] as const

function createAudit({ config, events, log, telemetry }: House<Needs>) {
  const stored = !config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  // As in the lines of requests: an action, an id and an address hold no secret to be looked for.
  const lines = log.child({}, { redact: [] })
  const settings = { stored, log: lines, metrics: telemetry.metrics, events }
  return {
    stored,
    adminActor,
    difference,
    personDifference,
    personDeleted,
    keyDifference,
    ...bindSteps(settings, { entry, record, recordAdmin, recordAdminOn }),
  }
}

export default definePlugin({ name: 'audit', needs, create: createAudit })
