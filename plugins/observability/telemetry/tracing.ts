/**
 * Spans that no library creates: jobs, emails, hooks and password hashes. They contain names and durations, never an
 * email address, a token or another value.
 */
import type * as Otel from '@opentelemetry/api'

import { logFields } from '../request-context/index.ts'

type Attributes = Record<string, string | number | boolean>

/** Work that has just ended. */
interface FinishedSpan {
  name: string
  ms: number
  attributes?: Attributes
}

export interface Tracing {
  enabled: boolean
  /** Runs the work in a span. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>
  /** Records a span for work that has just ended, when a trace is active. */
  ended(describe: () => FinishedSpan): void
  /** Runs a job in a span: in the trace of `origin` when that was recorded, else in a new trace. */
  job<T>(name: string, origin: string | undefined, work: () => Promise<T>): Promise<T>
  /** The trace context to store with a job; undefined when nothing is recorded. */
  origin(): string | undefined
}

export const withoutTracing: Tracing = {
  enabled: false,
  span: (_name, _attributes, work) => work(),
  ended() {},
  job: (_name, _origin, work) => work(),
  origin: () => undefined,
}

export function createTracing(api: typeof Otel, tracer: Otel.Tracer): Tracing {
  const { ROOT_CONTEXT, SpanKind, TraceFlags, trace } = api

  /** The active span of a recorded trace. It may have ended: a Fastify hook's span ends before the next one starts. */
  function recordedSpan(): Otel.SpanContext | undefined {
    const active = trace.getActiveSpan()?.spanContext()
    return active && active.traceFlags & TraceFlags.SAMPLED ? active : undefined
  }

  function span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
    if (!recordedSpan()) return work()
    const options = { kind: SpanKind.CLIENT, attributes }
    return tracer.startActiveSpan(name, options, (span) => inside(span, api, work))
  }

  function toContext(origin: string | undefined): Otel.Context {
    const [, traceId, spanId] = /^([0-9a-f]{32})-([0-9a-f]{16})$/.exec(origin ?? '') ?? []
    if (!traceId || !spanId) return ROOT_CONTEXT
    const cause = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
    return trace.setSpanContext(ROOT_CONTEXT, cause)
  }

  function job<T>(name: string, origin: string | undefined, work: () => Promise<T>): Promise<T> {
    const parent = toContext(origin)
    return tracer.startActiveSpan(name, { kind: SpanKind.CONSUMER }, parent, (span) => {
      const { traceId, spanId } = span.spanContext()
      if (span.isRecording()) Object.assign(logFields(), { trace_id: traceId, span_id: spanId })
      return inside(span, api, work)
    })
  }

  return {
    enabled: true,
    span,
    ended(describe) {
      if (!recordedSpan()) return
      const { name, ms, attributes = {} } = describe()
      // Set explicitly, because the SDK rounds to milliseconds, which is longer than most statements.
      const endTime = Date.now()
      const startTime = endTime - ms
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes })
      span.end(endTime)
    },
    job,
    origin() {
      const span = recordedSpan()
      return span && `${span.traceId}-${span.spanId}`
    },
  }
}

/** Ends the span with the work; an error is recorded by type. */
async function inside<T>(
  span: Otel.Span,
  { SpanStatusCode }: typeof Otel,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}
