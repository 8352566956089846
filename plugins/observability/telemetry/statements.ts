/** Durations of statements, by name. */
import type { Metrics } from './metrics.ts'
import { statementName } from './statement-name.ts'

/** Called after each statement; undefined when metrics are off. */
export function onStatement(
  metrics: Metrics,
): ((sql: string, durationMs: number) => void) | undefined {
  if (!metrics.enabled) return undefined
  return (sql, durationMs) => {
    metrics.record('db.client.operation.duration', durationMs / 1000, {
      'db.query.summary': statementName(sql),
    })
  }
}
