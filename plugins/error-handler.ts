/** Renders every error in both versions of the error body; causes go to the log only. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import { methodNotAllowed, notFound } from '../errors.ts'
import { render } from './error-handler/render.ts'
import { toApiError } from './error-handler/to-api-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What any thrown value means to a client: for pages and redirects, which render errors themselves. */
    toApiError: typeof toApiError
  }
}

function answerError(
  this: FastifyInstance,
  thrown: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  // Fastify misses the body of a QUERY before it misses a route for it, and we have none.
  if ('code' in thrown && thrown.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') {
    return answerUnrouted(this, request, reply)
  }
  const error = toApiError(thrown)
  this.metrics.count('postern.refusals', { error_code: error.errorCode })
  const { cause } = error.details
  if (error.status >= 500) request.log.error({ err: cause ?? error }, error.message)
  else request.log.info({ error_code: error.errorCode, err: cause }, error.message)
  return render(error, request, reply)
}

async function errorHandler(fastify: FastifyInstance) {
  fastify.decorate('toApiError', toApiError)
  fastify.setErrorHandler(answerError)
  fastify.setNotFoundHandler((request, reply) => answerUnrouted(fastify, request, reply))
}

function answerUnrouted(fastify: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
  const allowed = allowedMethods(fastify, request)
  if (allowed.length === 0) return render(notFound(), request, reply)
  reply.header('allow', allowed.join(', '))
  return render(methodNotAllowed(allowed.join(', ')), request, reply)
}

/** Methods under which the path of this request is routed (RFC 9110 §15.5.6). */
function allowedMethods(fastify: FastifyInstance, request: FastifyRequest): string[] {
  const path = (request.raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => fastify.findRoute({ method, url: path }) !== null)
}

export default fp(errorHandler, {
  name: 'error-handler',
  fastify: '5.x',
  dependencies: ['telemetry'],
})
