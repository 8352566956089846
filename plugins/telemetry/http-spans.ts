/** One server span a request, around all that is done for it. */
import type * as Otel from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { routePattern } from './http-route.ts'

export function addHttpSpans(fastify: FastifyInstance, api: typeof Otel, tracer: Otel.Tracer) {
  const { context, propagation, trace, SpanKind, SpanStatusCode } = api
  const contexts = new WeakMap<FastifyRequest, Otel.Context>()

  fastify.addHook('onRequest', (request, _reply, done) => {
    const parent = propagation.extract(context.active(), request.headers)
    const span = tracer.startSpan(
      nameOf(request),
      { kind: SpanKind.SERVER, attributes: attributesOf(request) },
      parent,
    )
    const inside = trace.setSpan(parent, span)
    contexts.set(request, inside)
    context.with(inside, done)
  })

  // The body's last bytes arrive in the context of the connection, not of the request.
  fastify.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? context.active(), done)
  })

  fastify.addHook('onResponse', (request, reply, done) => {
    const span = trace.getSpan(contexts.get(request) ?? context.active())
    span?.setAttributes({
      'http.response.status_code': reply.statusCode,
      'http.status_code': reply.statusCode,
    })
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
    done()
  })
}

function nameOf({ method, routeOptions }: FastifyRequest): string {
  const route = routePattern(routeOptions.url)
  return route ? `${method} ${route}` : method
}

/** Neither path nor query as they were sent: both can hold tokens and addresses. */
function attributesOf({ id, method, routeOptions, params }: FastifyRequest): Otel.Attributes {
  const route = routePattern(routeOptions.url)
  const attributes: Otel.Attributes = {
    'http.request.method': method,
    'http.method': method,
    'auth.request_id': id,
  }
  if (!route) return attributes
  attributes['http.route'] = route
  for (const [key, value] of Object.entries(params ?? {})) {
    attributes[`http.route.params.${key}`] = String(value)
  }
  return attributes
}
