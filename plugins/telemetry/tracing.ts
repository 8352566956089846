/**
 * Spans of what happens inside a request or a job, where its trace is recorded. They hold names and sizes, never values:
 * no statement parameter, no query string, no address of a person, no token.
 */
import type * as Otel from '@opentelemetry/api'

import { logFields } from '../context.ts'

/** `fetch` with the response of whoever implements it. */
type Fetch<R> = (input: string | URL | Request, init?: RequestInit) => Promise<R>
export type Attributes = Record<string, string | number | boolean>

/** Something that has just ended. */
export interface Ended {
  name: string
  ms: number
  attributes?: Attributes
  failed?: boolean
}

export interface Tracing {
  enabled: boolean
  /** Runs the work inside a span. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>
  /** Makes a span of something that has just ended, where there is a trace to put it in. */
  ended(describe: () => Ended): void
  /**
   * Runs a job of the queue as a span, in the trace of `origin` when that says that it was recorded, else in one of its
   * own.
   */
  job<T>(name: string, origin: string | undefined, work: () => Promise<T>): Promise<T>
  /** What names the span of now for a job that it causes; undefined where nothing is recorded. */
  origin(): string | undefined
  /** The same fetch, each call of which is a span. */
  fetch<R extends { status: number }>(fetch: Fetch<R>): Fetch<R>
}

export const withoutTracing: Tracing = {
  enabled: false,
  span: (_name, _attributes, work) => work(),
  ended() {},
  job: (_name, _origin, work) => work(),
  origin: () => undefined,
  fetch: (fetch) => fetch,
}

export function createTracing(api: typeof Otel, tracer: Otel.Tracer): Tracing {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } = api
  const isRecorded = () => trace.getActiveSpan()?.isRecording() === true

  async function inside<T>(span: Otel.Span, work: (span: Otel.Span) => Promise<T>): Promise<T> {
    try {
      return await work(span)
    } catch (error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  }

  function spanOf<T>(
    name: string,
    attributes: Attributes,
    work: (span: Otel.Span | undefined) => Promise<T>,
  ): Promise<T> {
    if (!isRecorded()) return work(undefined)
    const options = { kind: SpanKind.CLIENT, attributes }
    return tracer.startActiveSpan(name, options, (span) => inside(span, work))
  }

  function contextOf(origin: string | undefined): Otel.Context {
    const [, traceId, spanId] = /^([0-9a-f]{32})-([0-9a-f]{16})$/.exec(origin ?? '') ?? []
    if (!traceId || !spanId) return ROOT_CONTEXT
    const cause = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
    return trace.setSpanContext(ROOT_CONTEXT, cause)
  }

  function job<T>(name: string, origin: string | undefined, work: () => Promise<T>): Promise<T> {
    const parent = contextOf(origin)
    return tracer.startActiveSpan(name, { kind: SpanKind.CONSUMER }, parent, (span) => {
      const { traceId, spanId } = span.spanContext()
      if (span.isRecording()) Object.assign(logFields(), { trace_id: traceId, span_id: spanId })
      return inside(span, work)
    })
  }

  return {
    enabled: true,
    span: (name, attributes, work) => spanOf(name, attributes, work),
    ended(describe) {
      if (!isRecorded()) return
      const { name, ms, attributes = {}, failed = false } = describe()
      // The SDK would end it at a whole millisecond, which is longer than most statements take.
      const endTime = Date.now()
      const startTime = endTime - ms
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes })
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(endTime)
    },
    job,
    origin() {
      const span = trace.getActiveSpan()
      if (!span?.isRecording()) return undefined
      const { traceId, spanId } = span.spanContext()
      return `${traceId}-${spanId}`
    },
    fetch: (fetch) => (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
      const attributes = { 'http.request.method': method, 'server.address': url.hostname }
      return spanOf(`${method} ${url.hostname}`, attributes, async (span) => {
        const response = await fetch(input, init)
        span?.setAttribute('http.response.status_code', response.status)
        return response
      })
    },
  }
}
