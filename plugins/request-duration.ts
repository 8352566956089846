/**
 * Ends what takes longer than AUTH_API_MAX_REQUEST_DURATION, with 504. Fastify's `handlerTimeout` gives up as soon as the
 * body of a request has been read, so that it would hold for requests without a body alone, and the work would go on.
 */
import type { FastifyReply } from 'fastify'

import type { Config } from './config/config.ts'
import { defineExtension } from './define-plugin.ts'
import { TimeLimit } from './request-duration/time-limit.ts'

/** For a commit that is under way, and for what ends because its statement was stopped, to answer by themselves. */
const graceMs = 1_000

/**
 * How long a request may wait for somebody else, in milliseconds: four fifths of its time, so that it ends by itself and
 * the client hears what failed.
 */
export function longestWaitMs({ AUTH_API_MAX_REQUEST_DURATION: seconds }: Config): number {
  return seconds * 800
}

export default defineExtension({
  name: 'request-duration',
  needs: ['config', 'addHook'],
  install(house) {
    const longestMs = Math.ceil(house.config.AUTH_API_MAX_REQUEST_DURATION * 1000)

    house.addHook('onRequest', (request, reply, done) => {
      const limit = new TimeLimit()
      let timer = setTimeout(() => {
        if (isAnswered(reply)) return
        if (limit.end()) timer = setTimeout(answer, graceMs)
        else answer()
      }, longestMs)
      const answer = () => {
        if (isAnswered(reply)) return
        reply.send(limit.answer())
        ignoreLateAnswer(reply)
      }
      if (request.context) request.context.timeLimit = limit
      // Not when the connection closes: what a client that has hung up asked for goes on, and ends as well.
      reply.raw.once('finish', () => clearTimeout(timer))
      done()
    })
  },
})

/** An answer that is on its way may take longer: a stream of events lasts for hours. */
function isAnswered(reply: FastifyReply): boolean {
  return reply.sent || reply.raw.headersSent
}

/** Fastify would log it with the address, and that of a callback holds a code. */
function ignoreLateAnswer(reply: FastifyReply): void {
  const send = reply.send.bind(reply)
  reply.send = (payload) => (reply.sent ? reply : send(payload))
}
