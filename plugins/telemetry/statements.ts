/** Statements that ended: their durations by name, and a span of each where the trace is recorded. */
import type { Metrics } from './metrics.ts'
import { statementName } from './statement-name.ts'
import type { Tracing } from './tracing.ts'

/** What Kysely tells of a statement that ended. */
export interface FinishedStatement {
  level: 'query' | 'error'
  query: { sql: string }
  queryDurationMillis: number
}

export function onStatement(
  metrics: Metrics,
  tracing: Tracing,
): ((finished: FinishedStatement) => void) | undefined {
  if (!metrics.enabled && !tracing.enabled) return undefined
  return ({ level, query: { sql }, queryDurationMillis: ms }) => {
    const { name: statement, operation } = statementName(sql)
    metrics.record('postern.db.statement.duration', ms / 1000, { statement })
    tracing.ended(() => ({
      name: operation,
      ms,
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.text': sql,
      },
      failed: level === 'error',
    }))
  }
}
