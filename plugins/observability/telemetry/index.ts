/**
 * Traces and metrics by OpenTelemetry. When both are off, none of it is loaded and no hook runs. The entry point loads
 * the instrumentation (instrumentation.ts) earlier, before Fastify.
 */
import { version } from '../../../version.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { countedFetch } from './outgoing.ts'
import { addProcessGauges } from './process-gauges.ts'
import { onStatement } from './statements.ts'
import { createTracing, type Tracing, withoutTracing } from './tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    telemetry: ReturnType<typeof createTelemetry>
  }
}

type TelemetryDeps = Deps<'config' | 'log' | 'addHook'>

function createTelemetry(metrics: Metrics, tracing: Tracing) {
  return {
    metrics,
    tracing,

    /** Wraps fetch to count calls by host; by `label` where clients choose the host. */
    fetch: <R extends { status: number }>(
      fetch: (input: string | URL | Request, init?: RequestInit) => Promise<R>,
      label?: string,
    ) => countedFetch(fetch, metrics, label),

    /** Called after every statement; undefined when metrics are off. */
    onStatement: onStatement(metrics),
  }
}

export default definePlugin({
  name: 'telemetry',
  deps: ['config', 'log', 'addHook'],
  async create(deps) {
    const { AUTH_TRACING_ENABLED, AUTH_METRICS_ENABLED } = deps.config
    if (AUTH_TRACING_ENABLED || AUTH_METRICS_ENABLED) await runSdk(deps)
    const tracing = AUTH_TRACING_ENABLED ? await startTracing(deps) : withoutTracing
    const metrics = AUTH_METRICS_ENABLED ? await startMetrics(deps) : createMetrics(undefined)
    return createTelemetry(metrics, tracing)
  },
})

async function runSdk(deps: TelemetryDeps): Promise<void> {
  const { startSdk } = await import('./sdk.ts')
  const sdk = await startSdk(deps.config, deps.log)
  deps.addHook('onClose', sdk.shutdown)
}

async function startTracing(deps: TelemetryDeps): Promise<Tracing> {
  const api = await import('@opentelemetry/api')
  const { addHttpAttributes } = await import('./http-attributes.ts')
  const tracer = api.trace.getTracer('postern', version)
  addHttpAttributes(deps, api)
  return createTracing(api, tracer)
}

async function startMetrics(deps: TelemetryDeps): Promise<Metrics> {
  const api = await import('@opentelemetry/api')
  const { addHttpMetrics } = await import('./http-metrics.ts')
  const meter = api.metrics.getMeter('postern', version)
  let closing = false
  deps.addHook('preClose', async () => {
    closing = true
  })
  addHttpMetrics(deps, meter)
  const metrics = createMetrics(meter, () => closing)
  addProcessGauges(metrics)
  return metrics
}
