/**
 * Spans of what happens inside a request. They hold names and sizes, never values: no statement parameter, no query
 * string, no address of a person, no token.
 */
import type * as Otel from '@opentelemetry/api'

/** `fetch` with the response of whoever implements it. */
type Fetch<R> = (input: string | URL | Request, init?: RequestInit) => Promise<R>
export type Attributes = Record<string, string | number | boolean>

/** What Kysely tells of a statement that ended. */
export interface FinishedQuery {
  level: 'query' | 'error'
  query: { sql: string }
  queryDurationMillis: number
}

export interface Tracing {
  enabled: boolean
  /** Runs the work inside a span. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>
  /** The same fetch, each call of which is a span. */
  fetch<R extends { status: number }>(fetch: Fetch<R>): Fetch<R>
  /** Makes a span of a statement that has just ended. Undefined when tracing is off. */
  query: ((finished: FinishedQuery) => void) | undefined
}

export const withoutTracing: Tracing = {
  enabled: false,
  span: (_name, _attributes, work) => work(),
  fetch: (fetch) => fetch,
  query: undefined,
}

export function createTracing(api: typeof Otel, tracer: Otel.Tracer): Tracing {
  const { SpanKind, SpanStatusCode, trace } = api

  function spanOf<T>(
    name: string,
    attributes: Attributes,
    work: (span: Otel.Span) => Promise<T>,
  ): Promise<T> {
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        return await work(span)
      } catch (error) {
        span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    })
  }

  function query({ level, query: { sql }, queryDurationMillis }: FinishedQuery): void {
    // The sampler left the request out, and so its statements.
    if (trace.getActiveSpan()?.isRecording() === false) return
    const operation = /^\W*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'SQL'
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': sql,
    }
    const startTime = Date.now() - queryDurationMillis
    const span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, startTime, attributes })
    if (level === 'error') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  return {
    enabled: true,
    query,
    span: (name, attributes, work) => spanOf(name, attributes, work),
    fetch: (fetch) => (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
      const attributes = { 'http.request.method': method, 'server.address': url.hostname }
      return spanOf(`${method} ${url.hostname}`, attributes, async (span) => {
        const response = await fetch(input, init)
        span.setAttribute('http.response.status_code', response.status)
        return response
      })
    },
  }
}
