/** Request durations by route, method and status. */
import type { Attributes, Meter } from '@opentelemetry/api'

import type { Deps } from '../../define-plugin.ts'
import { routePattern } from './http-route.ts'

const boundaries = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function addHttpMetrics(deps: Deps<'addHook'>, meter: Meter): void {
  const duration = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP requests',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  let active = 0
  meter
    .createObservableUpDownCounter('http.server.active_requests', {
      description: 'Requests being answered',
      unit: '{request}',
    })
    .addCallback((result) => result.observe(active))
  deps.addHook('onRequest', (_request, reply, done) => {
    active += 1
    // Unlike onResponse, also emitted when the client disconnects.
    reply.raw.once('close', () => {
      active -= 1
    })
    done()
  })
  const getAttributes = rememberAttributes()
  deps.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request
    duration.record(
      reply.elapsedTime / 1000,
      getAttributes(method, routeOptions.url, reply.statusCode),
    )
    done()
  })
}

/** Caches one attribute object per combination of method, route and status. */
function rememberAttributes() {
  const known = new Map<string, Attributes>()
  return (method: string, url: string | undefined, status: number): Attributes => {
    const key = `${status} ${method} ${url}`
    const attributes = known.get(key) ?? {
      'http.request.method': method,
      'http.route': routePattern(url) ?? 'none',
      'http.response.status_code': status,
    }
    known.set(key, attributes)
    return attributes
  }
}
