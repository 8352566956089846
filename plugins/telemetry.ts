/** Traces and metrics by OpenTelemetry. Switched off, nothing of it is loaded and no hook runs. */
import { version } from '../version.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createTracing, type Tracing, withoutTracing } from './telemetry/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    telemetry: Telemetry
  }
}

export interface Telemetry {
  metrics: Metrics
  tracing: Tracing
}

type TelemetryHouse = House<'config' | 'log' | 'addHook' | 'register'>

export default definePlugin({
  name: 'telemetry',
  needs: ['config', 'log', 'addHook', 'register'],
  async create(house): Promise<Telemetry> {
    const { AUTH_TRACING_ENABLED, AUTH_METRICS_ENABLED } = house.config
    if (AUTH_TRACING_ENABLED || AUTH_METRICS_ENABLED) await runSdk(house)
    return {
      tracing: AUTH_TRACING_ENABLED ? await startTracing(house) : withoutTracing,
      metrics: AUTH_METRICS_ENABLED ? await startMetrics(house) : createMetrics(undefined),
    }
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
  await addHttpSpans(house, api)
  return createTracing(api, api.trace.getTracer('postern', version))
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
  return createMetrics(meter, () => closing)
}
