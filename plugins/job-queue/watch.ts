/** What a job leaves in log, metrics and traces. */
import { withLogFields } from '../context.ts'
import type { House } from '../define-plugin.ts'
import type { AroundJob } from './runner-options.ts'

export function watchJobs({ metrics, tracing }: House<'telemetry'>['telemetry']): AroundJob {
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

/** Of the request that caused it; jobs of older versions say nothing of theirs. */
function originIn(payload: unknown): string | undefined {
  const isObject = typeof payload === 'object' && payload !== null
  const origin = isObject && 'origin' in payload ? payload.origin : undefined
  return typeof origin === 'string' ? origin : undefined
}
