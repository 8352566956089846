/** One server span a request, by @fastify/otel, around all that is done for it. */
import type * as Otel from '@opentelemetry/api'
import type { FastifyRequest } from 'fastify'

import type { House } from '../define-plugin.ts'
import { routePattern } from './http-route.ts'

type SpanHouse = House<'addHook' | 'register'>

export async function addHttpSpans(house: SpanHouse, { context, SpanStatusCode }: typeof Otel) {
  const { FastifyOtelInstrumentation } = await import('@fastify/otel')
  const instrumentation = new FastifyOtelInstrumentation({
    // A span for every hook would cost more than most requests do.
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    requestHook(span, request) {
      // Of a request that is not sampled, nothing is written down.
      if (!span.isRecording()) return
      describe(span, request)
      withoutMessages(span)
    },
  })
  await house.register(instrumentation.plugin())

  // The body's last bytes arrive in the context of the connection, not of the request.
  house.addHook('preValidation', (request, _reply, done) => {
    context.with(request.opentelemetry().context ?? context.active(), done)
  })

  house.addHook('onSend', (request, reply, _payload, done) => {
    const { span } = request.opentelemetry()
    span?.setAttribute('http.status_code', reply.statusCode)
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR })
    done()
  })
}

/** Neither path nor query as they were sent: both can hold tokens and addresses. */
function describe(span: Otel.Span, { id, method, routeOptions, params }: FastifyRequest): void {
  const route = routePattern(routeOptions.url)
  span.updateName(route ? `${method} ${route}` : method)
  span.setAttributes({ 'http.method': method, 'auth.request_id': id, 'url.path': route ?? '' })
  if (!route) return
  span.setAttribute('http.route', route)
  for (const [key, value] of Object.entries(params ?? {})) {
    span.setAttribute(`http.route.params.${key}`, String(value))
  }
}

/**
 * The library marks every refusal as an error with its text, which can name an address; a refused request is no
 * error of the server (OpenTelemetry semantic conventions, HTTP spans), so only a bare status is kept.
 */
function withoutMessages(span: Otel.Span): void {
  const setStatus = span.setStatus.bind(span)
  span.setStatus = (status) => (status.message === undefined ? setStatus(status) : span)
}
