/**
 * OpenTelemetry's instrumentation of node:http, Fastify, pg and undici. It replaces what these modules export, so it is
 * loaded before them (server/instrument.ts). Its spans never hold a URL as it was sent or the text of an error.
 */
import { createNoopMeter, type MeterProvider, trace } from '@opentelemetry/api'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { FastifyInstrumentation } from '@opentelemetry/instrumentation-fastify'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { register } from 'import-in-the-middle/register-hooks.mjs'

import { withoutErrorTexts } from './redaction.ts'

/** Ports whose requests are not traced: the metrics endpoint. */
export const untracedPorts = new Set<number>()

/** Metrics are recorded with and without traces, so they are our own (metrics.ts, http-metrics.ts). */
const noMetrics: MeterProvider = { getMeter: () => createNoopMeter() }

/** Modules imported from here on are instrumented. Spans are recorded once the SDK has started. */
export function instrument(): void {
  // Only modules that our ES modules import: all others are loaded with require.
  register({ include: ['fastify', 'pg'] })
  registerInstrumentations({
    tracerProvider: withoutErrorTexts(trace.getTracerProvider()),
    meterProvider: noMetrics,
    instrumentations: [
      new HttpInstrumentation({
        // undici sends all outgoing requests.
        disableOutgoingRequestInstrumentation: true,
        ignoreIncomingRequestHook: ({ socket }) => untracedPorts.has(socket.localPort ?? 0),
        startIncomingSpanHook: () => ({ 'url.path': undefined, 'url.query': undefined }),
      }),
      new FastifyInstrumentation(),
      new PgInstrumentation({ requireParentSpan: true }),
      new UndiciInstrumentation({
        requireParentforSpans: true,
        startSpanHook: ({ origin }) => ({
          'url.full': origin,
          'url.path': undefined,
          'url.query': undefined,
        }),
      }),
    ],
  })
}
