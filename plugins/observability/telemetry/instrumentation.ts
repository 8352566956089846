/**
 * OpenTelemetry's instrumentation of node:http, Fastify, pg and undici. It replaces what these modules export, so it is
 * loaded before them (server/instrument.ts). Its spans never hold a URL as it was sent or the text of an error.
 */
import {
  createNoopMeter,
  type Exception,
  type MeterProvider,
  propagation,
  type Span,
  type SpanStatus,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { FastifyInstrumentation } from '@opentelemetry/instrumentation-fastify'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { register } from 'import-in-the-middle/register-hooks.mjs'

import { dropUntrustedParent } from './remote-parents.ts'

/** Ports whose requests are not traced: the metrics endpoint. */
export const untracedPorts = new Set<number>()

/** Metrics are recorded with and without traces, so they are our own (index.ts, http-metrics.ts). */
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
        // Called before the context is read from the headers.
        startIncomingSpanHook: (request) => {
          dropUntrustedParent(request, propagation.fields())
          return { 'url.path': undefined, 'url.query': undefined }
        },
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

// Removes error messages from the spans of instrumentation libraries: they can contain an email address, a value or a
// token.

/** Wraps a provider whose spans keep an error's type and drop its message and stack. */
function withoutErrorTexts(provider: TracerProvider): TracerProvider {
  return {
    getTracer: (name, version, options) => redacting(provider.getTracer(name, version, options)),
  }
}

function redacting(tracer: Tracer): Tracer {
  return {
    startSpan: (name, options, context) => redact(tracer.startSpan(name, options, context)),
    startActiveSpan() {
      throw new Error('no instrumentation of this server starts active spans')
    },
  }
}

function redact(span: Span): Span {
  if (!span.isRecording()) return span
  const { setStatus } = span
  span.recordException = (exception) => void span.setAttribute('error.type', getType(exception))
  span.setStatus = ({ code }: SpanStatus) => setStatus.call(span, { code })
  return span
}

function getType(exception: Exception): string {
  if (typeof exception === 'string') return 'unknown'
  return String(exception.code ?? exception.name ?? 'unknown')
}
