/** One line a request: what was asked, how it went, how long it took, and for whom. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { ApiError } from '../errors.ts'
import { onceAnswered } from './context.ts'
import { defineExtension, type House } from './define-plugin.ts'
import { longestValue, shorten } from './logger/shorten.ts'
import { unredacted } from './logger.ts'
import { healthChecks } from './readiness.ts'

export default defineExtension({
  name: 'request-log',
  needs: ['apiErrors', 'bearerAuth', 'config', 'log', 'addHook'],
  install(house) {
    const { AUTH_LOG_HEALTH_CHECKS: tellsHealth } = house.config
    const lines = unredacted(house.log)

    // No hook hears of a client that hangs up before it is answered; what it asked for is done all the same.
    house.addHook('onRequest', (request, reply, done) => {
      onceAnswered(() => {
        if (reply.raw.writableEnded) return
        const { status: _, ...line } = lineOf(request, reply)
        lines.info(line, 'the client hung up before it was answered')
      })
      done()
    })

    house.addHook('onResponse', (request, reply, done) => {
      const unavailability = house.apiErrors.unavailability(request)
      if (unavailability) tellUnavailable(house, lineOf(request, reply), unavailability)
      else if (tellsHealth || !isHealthy(request, reply)) {
        lines.info(lineOf(request, reply), 'request completed')
      }
      done()
    })
  },
})

function lineOf({ id, method, routeOptions, bearer }: FastifyRequest, reply: FastifyReply) {
  return {
    reqId: id,
    method,
    // The matched route, not the URL: a URL can hold a token.
    route: routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(bearer && { user_id: bearer.user.id }),
  }
}

function isHealthy({ routeOptions: { url = '' } }: FastifyRequest, reply: FastifyReply): boolean {
  return reply.statusCode < 400 && healthChecks.includes(url)
}

/** One line for each, however many there are: its stack is for those who look closer. */
function tellUnavailable(
  { log }: House<'log'>,
  line: ReturnType<typeof lineOf>,
  { errorCode: error_code, message, details: { cause } }: ApiError,
): void {
  const reason = cause instanceof Error ? shorten(cause.message, longestValue) : undefined
  log.error({ ...line, error_code, reason }, message)
  if (cause instanceof Error) log.debug({ reqId: line.reqId, err: cause }, 'why it was not served')
}
