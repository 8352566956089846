/**
 * One server span a request, around all that is done for it. A request that the sampler leaves out costs one decision:
 * no context is entered for it, so that nothing further in looks for a span of it.
 */
import { createHash } from 'node:crypto'

import type * as Otel from '@opentelemetry/api'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { House } from '../define-plugin.ts'
import { routePattern } from './http-route.ts'

export function addHttpSpans(house: House<'addHook'>, api: typeof Otel, tracer: Otel.Tracer): void {
  const { context, propagation, ROOT_CONTEXT, trace } = api
  const headersOfTraces = propagation.fields()
  const contexts = new WeakMap<FastifyRequest, Otel.Context>()
  const optionsOf = rememberOptions(api)

  house.addHook('onRequest', (request, reply, done) => {
    const { name, options } = optionsOf(request.method, request.routeOptions.url)
    const isContinued = headersOfTraces.some((name) => request.headers[name] !== undefined)
    const parent = isContinued ? propagation.extract(ROOT_CONTEXT, request.headers) : ROOT_CONTEXT
    const span = tracer.startSpan(name, options, parent)
    if (!span.isRecording()) return done()
    describe(span, request)
    reply.raw.once('close', () => end(span, reply, api))
    const inside = trace.setSpan(parent, span)
    contexts.set(request, inside)
    context.with(inside, done)
  })

  // The body's last bytes arrive in the context of the connection, not of the request.
  house.addHook('preValidation', (request, _reply, done) => {
    const inside = contexts.get(request)
    if (inside) context.with(inside, done)
    else done()
  })
}

interface RouteSpan {
  name: string
  options: Otel.SpanOptions
}

/** Made once for each method and route. Neither path nor query as they were sent: both can hold tokens and addresses. */
function rememberOptions({ SpanKind }: typeof Otel) {
  const known = new Map<string, RouteSpan>()
  return (method: string, url: string | undefined): RouteSpan => {
    const key = `${method} ${url}`
    const found = known.get(key)
    if (found) return found
    const route = routePattern(url)
    const attributes = {
      'http.method': method,
      'http.request.method': method,
      'url.path': route ?? '',
      ...(route && { 'http.route': route }),
    }
    const name = route ? `${method} ${route}` : method
    const made = { name, options: { kind: SpanKind.SERVER, attributes } }
    known.set(key, made)
    return made
  }
}

function describe(span: Otel.Span, { id, params, context }: FastifyRequest): void {
  span.setAttribute('auth.request_id', id)
  for (const [key, value] of Object.entries(params ?? {})) {
    span.setAttribute(`http.route.params.${key}`, fingerprint(String(value)))
  }
  const { traceId, spanId } = span.spanContext()
  if (context) Object.assign(context.logFields, { trace_id: traceId, span_id: spanId })
}

/** The same for the same value: requests about one person are found without the trace naming anybody. */
function fingerprint(value: string): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 16)
}

/** A refused request is no error of the server (OpenTelemetry semantic conventions, HTTP spans). */
function end(span: Otel.Span, { statusCode }: FastifyReply, { SpanStatusCode }: typeof Otel): void {
  span.setAttributes({ 'http.response.status_code': statusCode, 'http.status_code': statusCode })
  if (statusCode >= 500) {
    span.setAttribute('error.type', String(statusCode))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
