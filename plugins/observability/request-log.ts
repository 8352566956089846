/** One log line per request: route, status, duration and user. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import { toActing } from '../../schemas/access-token.ts'
import type { ApiError } from '../../schemas/errors.ts'
import { type Deps, defineHooksPlugin } from '../define-plugin.ts'
import { unredacted } from './logger/index.ts'
import { maxValueLength, shorten } from './logger/shorten.ts'
import { healthChecks } from './readiness.ts'
import { afterResponse } from './request-context/index.ts'

export default defineHooksPlugin({
  name: 'request-log',
  deps: ['apiErrors', 'bearerAuth', 'config', 'log', 'addHook'],
  install(deps) {
    const { AUTH_LOG_HEALTH_CHECKS: logsHealthChecks } = deps.config
    const lines = unredacted(deps.log)

    // No Fastify hook runs for a client that disconnects early, although its request is processed.
    deps.addHook('onRequest', (request, reply, done) => {
      afterResponse(() => {
        if (reply.raw.writableEnded) return
        const { status: _, ...line } = buildLine(request, reply)
        lines.info(line, 'client disconnected before the response')
      })
      done()
    })

    deps.addHook('onResponse', (request, reply, done) => {
      const unavailability = deps.apiErrors.unavailability(request)
      if (unavailability) logUnavailable(deps, buildLine(request, reply), unavailability)
      else if (logsHealthChecks || !isHealthy(request, reply)) {
        lines.info(buildLine(request, reply), 'request completed')
      }
      done()
    })
  },
})

function buildLine({ id, method, routeOptions, auth }: FastifyRequest, reply: FastifyReply) {
  return {
    request_id: id,
    method,
    // The route, not the URL: a URL can contain a token.
    route: routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(auth && { user_id: auth.user.id, act: toActing(auth.claims, auth.user.id).act }),
  }
}

function isHealthy({ routeOptions: { url = '' } }: FastifyRequest, reply: FastifyReply): boolean {
  return reply.statusCode < 400 && healthChecks.includes(url)
}

/** One short line per request, without a stack, because there may be many. */
function logUnavailable(
  { log }: Deps<'log'>,
  line: ReturnType<typeof buildLine>,
  { errorCode: error_code, message, details: { cause } }: ApiError,
): void {
  const reason = cause instanceof Error ? shorten(cause.message, maxValueLength) : undefined
  log.error({ ...line, error_code, reason }, message)
  const { request_id } = line
  if (cause instanceof Error) log.debug({ request_id, err: cause }, 'cause of the 503 response')
}
