/** Traces and metrics by OpenTelemetry. Switched off, nothing of it is loaded and no hook runs. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { version } from '../schemas/version.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createTracing, type Tracing, withoutTracing } from './telemetry/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
    tracing: Tracing
  }
}

async function telemetry(fastify: FastifyInstance) {
  const { config, log } = fastify
  if (!config.AUTH_TRACING_ENABLED && !config.AUTH_METRICS_ENABLED) {
    fastify.decorate('tracing', withoutTracing)
    fastify.decorate('metrics', createMetrics(undefined))
    return
  }
  const { startSdk } = await import('./telemetry/sdk.ts')
  const sdk = await startSdk(config, log)
  fastify.addHook('onClose', sdk.shutdown)
  await addTracing(fastify)
  await addMetrics(fastify)
}

async function addTracing(fastify: FastifyInstance) {
  if (!fastify.config.AUTH_TRACING_ENABLED) {
    fastify.decorate('tracing', withoutTracing)
    return
  }
  const api = await import('@opentelemetry/api')
  const { addHttpSpans } = await import('./telemetry/http-spans.ts')
  const tracer = api.trace.getTracer('postern', version)
  fastify.decorate('tracing', createTracing(api, tracer))
  addHttpSpans(fastify, api, tracer)
}

async function addMetrics(fastify: FastifyInstance) {
  if (!fastify.config.AUTH_METRICS_ENABLED) {
    fastify.decorate('metrics', createMetrics(undefined))
    return
  }
  const api = await import('@opentelemetry/api')
  const { addHttpMetrics } = await import('./telemetry/http-metrics.ts')
  const meter = api.metrics.getMeter('postern', version)
  let closing = false
  fastify.addHook('preClose', async () => {
    closing = true
  })
  fastify.decorate(
    'metrics',
    createMetrics(meter, () => closing),
  )
  addHttpMetrics(fastify, meter)
}

export default fp(telemetry, { name: 'telemetry', fastify: '5.x', dependencies: ['config'] })
