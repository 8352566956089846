/**
 * Ends requests that exceed AUTH_API_MAX_REQUEST_DURATION with 504. Fastify's `handlerTimeout` stops counting once the
 * body has been read, so it would apply to requests without a body only, and the work would continue.
 */
import type { FastifyReply } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { defineHooksPlugin } from '../define-plugin.ts'
import { RequestDeadline } from '../observability/request-context/deadline.ts'

/** Time for a commit in progress, and for handlers whose statement was cancelled, to respond. */
const graceMs = 1_000

/**
 * How long a request may wait for a lock or connection, in milliseconds: four fifths of its time, so that it fails with
 * a specific error.
 */
export function maxWaitMs({ AUTH_API_MAX_REQUEST_DURATION: seconds }: Config): number {
  return seconds * 800
}

export default defineHooksPlugin({
  name: 'request-deadline',
  deps: ['config', 'addHook'],
  install(deps) {
    const maxDurationMs = Math.ceil(deps.config.AUTH_API_MAX_REQUEST_DURATION * 1000)

    deps.addHook('onRequest', (request, reply, done) => {
      const limit = new RequestDeadline()
      let timer = setTimeout(() => {
        if (hasResponded(reply)) return
        if (limit.end()) timer = setTimeout(answer, graceMs)
        else answer()
      }, maxDurationMs)
      const answer = () => {
        if (hasResponded(reply)) return
        reply.send(limit.toError())
        ignoreLateResponse(reply)
      }
      if (request.requestContext) request.requestContext.requestDeadline = limit
      // It keeps no closed server alive.
      timer.unref()
      // Not when the connection closes: a request continues after its client disconnects, and must end as well.
      reply.raw.once('finish', () => clearTimeout(timer))
      done()
    })
  },
})

/** A response in progress may take longer: an event stream lasts for hours. */
function hasResponded(reply: FastifyReply): boolean {
  return reply.sent || reply.raw.headersSent
}

/** Fastify would log the URL, and the URL of a callback contains a code. */
function ignoreLateResponse(reply: FastifyReply): void {
  const send = reply.send.bind(reply)
  reply.send = (payload) => (reply.sent ? reply : send(payload))
}
