/** Log lines, metrics and spans of jobs. */
import type { Deps } from '../../define-plugin.ts'
import { withLogFields } from '../../observability/request-context/index.ts'
import type { AroundJob } from './runner-options.ts'

export function watchJobs({ metrics, tracing }: Deps<'telemetry'>['telemetry']): AroundJob {
  return ({ id, task, payload }, work) =>
    withLogFields({ job: id, task }, async () => {
      let outcome = 'failed'
      try {
        await tracing.job(`job ${task}`, originIn(payload), work)
        outcome = 'done'
      } finally {
        metrics.count('postern.jobs', { task, outcome })
      }
    })
}

/** The trace of the request that queued it; absent in jobs of older versions. */
function originIn(payload: unknown): string | undefined {
  const isObject = typeof payload === 'object' && payload !== null
  const origin = isObject && 'origin' in payload ? payload.origin : undefined
  return typeof origin === 'string' ? origin : undefined
}
