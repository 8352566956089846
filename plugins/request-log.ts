/** One line a request: what was asked, how it went, how long it took, and for whom. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

async function requestLog(fastify: FastifyInstance) {
  // Looking for secrets in a line that can hold none costs three times as much as writing it.
  const lines = fastify.log.child({}, { redact: [] })

  fastify.addHook('onResponse', (request, reply, done) => {
    const { id, method, routeOptions, bearer } = request
    const line = {
      reqId: id,
      method,
      // The matched route, not the URL: a URL can hold a token.
      route: routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(bearer && { user_id: bearer.user.id }),
    }
    lines.info(line, 'request completed')
    done()
  })
}

export default fp(requestLog, {
  name: 'request-log',
  fastify: '5.x',
  dependencies: ['bearer-auth'],
})
