/** One line a request: what was asked, how it went, how long it took, and for whom. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

async function requestLog(fastify: FastifyInstance) {
  fastify.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, bearer } = request
    const line = {
      method,
      // The matched route, not the URL: a URL can hold a token.
      route: routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(bearer && { user_id: bearer.user.id }),
    }
    request.log.info(line, 'request completed')
  })
}

export default fp(requestLog, {
  name: 'request-log',
  fastify: '5.x',
  dependencies: ['bearer-auth'],
})
