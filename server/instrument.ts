/** Decides, before any other module is loaded, whether OpenTelemetry's instrumentation is needed. */
import { parsers } from '../config/core/parsers.ts'
import { withDotEnv } from '../config/dot-env.ts'
import { telemetry } from '../config/groups/telemetry.ts'
import { lookUp } from '../config/names.ts'

/** Loads the instrumentation when AUTH_TRACING_ENABLED is true. An invalid value is reported by readConfig later. */
export async function instrumentIfTraced(environment: NodeJS.ProcessEnv): Promise<void> {
  const schema = telemetry.AUTH_TRACING_ENABLED
  const found = lookUp(withDotEnv(environment), 'AUTH_TRACING_ENABLED', schema)
  if (!found || parsers.bool?.(found.text, schema) !== true) return
  const { instrument } = await import('../plugins/observability/telemetry/instrumentation.ts')
  instrument()
}
