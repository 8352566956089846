/** Renders every error in both versions of the error body; causes go to the log only. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import { type ApiError, methodNotAllowed, notFound } from '../errors.ts'
import { render } from './api-errors/render.ts'
import { toApiError } from './api-errors/to-api-error.ts'
import { definePlugin, type House } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For pages and redirects, which render errors themselves. */
    apiErrors: ApiErrors
  }
}

export interface ApiErrors {
  /** What any thrown value means to a client. */
  toApiError(thrown: unknown): ApiError

  /** The same, and its line in the log of the request: what the client is not told is there. */
  report(request: FastifyRequest, thrown: unknown): ApiError
}

type ErrorsHouse = House<'telemetry' | 'setErrorHandler' | 'setNotFoundHandler' | 'findRoute'>

export default definePlugin({
  name: 'apiErrors',
  needs: ['telemetry', 'setErrorHandler', 'setNotFoundHandler', 'findRoute'],
  create(house): ApiErrors {
    const { metrics } = house.telemetry
    house.setErrorHandler((thrown, request, reply) => {
      if (lacksRoute(thrown)) return answerUnrouted(house, request, reply)
      const error = report(request, thrown)
      metrics.count('postern.refusals', { error_code: error.errorCode })
      return render(error, request, reply)
    })
    house.setNotFoundHandler((request, reply) => answerUnrouted(house, request, reply))
    return { toApiError, report }
  },
})

function report(request: FastifyRequest, thrown: unknown): ApiError {
  const error = toApiError(thrown)
  const { cause, provider } = error.details
  const said = wordsOf(cause)
  const { errorCode: error_code } = error
  if (provider !== undefined || said !== undefined) {
    request.log.warn({ error_code, provider, said, err: cause }, error.message)
  } else if (error.status >= 500) request.log.error({ err: cause ?? error }, error.message)
  else request.log.info({ error_code: error.errorCode, err: cause }, error.message)
  return error
}

/** What another server said that failed us (providers/said.ts); its fault is no error of ours. */
function wordsOf(cause: unknown): string | undefined {
  const said = cause instanceof Error && 'said' in cause ? cause.said : undefined
  return typeof said === 'string' && said !== '' ? said : undefined
}

/** Fastify misses the body of a QUERY before it misses a route for it, and we have none. */
function lacksRoute(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  return 'code' in thrown && thrown.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
}

function answerUnrouted(house: ErrorsHouse, request: FastifyRequest, reply: FastifyReply) {
  const allowed = allowedMethods(house, request)
  if (allowed.length === 0) return render(notFound(), request, reply)
  reply.header('allow', allowed.join(', '))
  return render(methodNotAllowed(allowed.join(', ')), request, reply)
}

/** Methods under which the path of this request is routed (RFC 9110 §15.5.6). */
function allowedMethods(house: ErrorsHouse, request: FastifyRequest): string[] {
  const path = (request.raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => house.findRoute({ method, url: path }) !== null)
}
