/** How long requests take, by matched route, method and status. */
import type { Meter } from '@opentelemetry/api'

import type { House } from '../define-plugin.ts'
import { routePattern } from './http-route.ts'

const boundaries = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function addHttpMetrics(house: House<'addHook'>, meter: Meter): void {
  const duration = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP requests',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  const active = meter.createUpDownCounter('http.server.active_requests', {
    description: 'Requests being answered',
    unit: '{request}',
  })
  house.addHook('onRequest', (_request, _reply, done) => {
    active.add(1)
    done()
  })
  house.addHook('onResponse', (request, reply, done) => {
    active.add(-1)
    duration.record(reply.elapsedTime / 1000, {
      'http.request.method': request.method,
      'http.route': routePattern(request.routeOptions.url) ?? 'none',
      'http.response.status_code': reply.statusCode,
    })
    done()
  })
}
