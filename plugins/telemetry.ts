/** Traces and metrics by OpenTelemetry. Switched off, nothing of it is loaded and no hook runs. */
import { version } from '../version.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { countedFetch } from './telemetry/outgoing.ts'
import { addProcessGauges } from './telemetry/process-gauges.ts'
import { onStatement } from './telemetry/statements.ts'
import { createTracing, type Tracing, withoutTracing } from './telemetry/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    telemetry: ReturnType<typeof createTelemetry>
  }
}

type TelemetryHouse = House<'config' | 'log' | 'addHook'>

function createTelemetry(metrics: Metrics, tracing: Tracing) {
  return {
    metrics,
    tracing,

    /** The same fetch, each call of which is a span and is counted by host. */
    fetch: <R extends { status: number }>(
      fetch: (input: string | URL | Request, init?: RequestInit) => Promise<R>,
    ) => tracing.fetch(countedFetch(fetch, metrics)),

    /** Told of every statement that ended; undefined when nobody watches. */
    onStatement: onStatement(metrics, tracing),
  }
}

export default definePlugin({
  name: 'telemetry',
  needs: ['config', 'log', 'addHook'],
  async create(house) {
    const { AUTH_TRACING_ENABLED, AUTH_METRICS_ENABLED } = house.config
    if (AUTH_TRACING_ENABLED || AUTH_METRICS_ENABLED) await runSdk(house)
    const tracing = AUTH_TRACING_ENABLED ? await startTracing(house) : withoutTracing
    const metrics = AUTH_METRICS_ENABLED ? await startMetrics(house) : createMetrics(undefined)
    return createTelemetry(metrics, tracing)
  },
})

async function runSdk(house: TelemetryHouse): Promise<void> {
  const { startSdk } = await import('./telemetry/sdk.ts')
  const sdk = await startSdk(house.config, house.log)
  house.addHook('onClose', sdk.shutdown)
}

async function startTracing(house: TelemetryHouse): Promise<Tracing> {
  const api = await import('@opentelemetry/api')
  const { addHttpSpans } = await import('./telemetry/http-spans.ts')
  const tracer = api.trace.getTracer('postern', version)
  addHttpSpans(house, api, tracer)
  return createTracing(api, tracer)
}

async function startMetrics(house: TelemetryHouse): Promise<Metrics> {
  const api = await import('@opentelemetry/api')
  const { addHttpMetrics } = await import('./telemetry/http-metrics.ts')
  const meter = api.metrics.getMeter('postern', version)
  let closing = false
  house.addHook('preClose', async () => {
    closing = true
  })
  addHttpMetrics(house, meter)
  const metrics = createMetrics(meter, () => closing)
  addProcessGauges(metrics)
  return metrics
}
