/** Adds the specification's attributes to the request span of instrumentation-http. */
import { createHash } from 'node:crypto'

import type * as Otel from '@opentelemetry/api'
import { getRPCMetadata } from '@opentelemetry/core'
import type { FastifyRequest } from 'fastify'

import type { Deps } from '../../define-plugin.ts'
import { routePattern } from './http-route.ts'

export function addHttpAttributes(deps: Deps<'addHook'>, { context }: typeof Otel): void {
  deps.addHook('onRequest', (request, _reply, done) => {
    const metadata = getRPCMetadata(context.active())
    if (metadata?.span.isRecording()) {
      describe(metadata.span, request)
      const route = routePattern(request.routeOptions.url)
      // instrumentation-http sets `http.route` from it and names the span after it.
      if (route) metadata.route = route
    }
    done()
  })
}

function describe(span: Otel.Span, request: FastifyRequest): void {
  const { id, method, params, requestContext } = request
  span.setAttributes({ 'http.method': method, 'auth.request_id': id })
  for (const [key, value] of Object.entries(params ?? {})) {
    span.setAttribute(`http.route.params.${key}`, recordable(key, String(value)))
  }
  const { traceId, spanId } = span.spanContext()
  Object.assign(requestContext?.logFields ?? {}, { trace_id: traceId, span_id: spanId })
}

/** Parameters that contain a secret, and wildcards (`*`), which can contain anything. */
const secretNames = /^\*$|authorization|code|hash|secret|token/
/** Ids and names of routes. A longer value may be a token put into a path by mistake, another one an address. */
const form = /^[\w.:~-]{1,64}$/
const numberForm = /^\d{6,}$/

/** The value itself. For secrets, the beginning of its SHA-256, by which equal values can be correlated. */
function recordable(key: string, value: string): string {
  const isId = form.test(value) && !numberForm.test(value)
  if (isId && !secretNames.test(key)) return value
  return createHash('sha256').update(value).digest('hex').slice(0, 16)
}
