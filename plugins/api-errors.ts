/** Renders every error in both versions of the error body; causes go to the log only. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import { type ApiError, methodNotAllowed, notFound } from '../errors.ts'
import { help } from './api-errors/help.ts'
import { render } from './api-errors/render.ts'
import { toApiError } from './api-errors/to-api-error.ts'
import { definePlugin, type House } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For pages and redirects, which render errors themselves. */
    apiErrors: ApiErrors
  }
  interface FastifyContextConfig {
    /** On routes that sign people in: how this request tries to, from a short list. */
    signIn?: (request: FastifyRequest) => string
  }
}

export interface ApiErrors {
  /** What any thrown value means to a client. */
  toApiError(thrown: unknown): ApiError

  /** The same, and its line in the log of the request: what the client is not told is there. */
  report(request: FastifyRequest, thrown: unknown): ApiError

  /** Why this request could not be served for the moment, which is told in its own line (request-log.ts). */
  unavailability(request: FastifyRequest): ApiError | undefined
}

type ErrorsHouse = House<
  'config' | 'telemetry' | 'setErrorHandler' | 'setNotFoundHandler' | 'findRoute'
>

export default definePlugin({
  name: 'apiErrors',
  needs: ['config', 'telemetry', 'setErrorHandler', 'setNotFoundHandler', 'findRoute'],
  create(house): ApiErrors {
    const { metrics } = house.telemetry
    const unavailable = new WeakMap<FastifyRequest, ApiError>()

    function report(request: FastifyRequest, thrown: unknown): ApiError {
      const error = toApiError(thrown)
      const method = signInRefused(request, error)
      if (method) {
        metrics.count('postern.sign_in_refusals', { method, reason: error.errorCode })
      }
      if (isForTheMoment(error)) unavailable.set(request, error)
      else tell(request, error, method)
      return error
    }

    house.setErrorHandler((thrown, request, reply) => {
      if (lacksRoute(thrown)) return answerUnrouted(house, request, reply)
      const error = report(request, thrown)
      metrics.count('postern.refusals', { error_code: error.errorCode })
      return answer(house, error, request, reply)
    })
    house.setNotFoundHandler((request, reply) => answerUnrouted(house, request, reply))
    return { toApiError, report, unavailability: (request) => unavailable.get(request) }
  },
})

/** A database that is away, or too much at once: there may be thousands of these a second. */
function isForTheMoment({ status, details: { cause, provider } }: ApiError): boolean {
  return status === 503 && provider === undefined && wordsOf(cause) === undefined
}

/** How somebody tried to sign in who was refused; undefined where nobody was. */
function signInRefused(request: FastifyRequest, { status }: ApiError): string | undefined {
  return status < 500 ? request.routeOptions.config.signIn?.(request) : undefined
}

function tell(request: FastifyRequest, error: ApiError, signIn: string | undefined): void {
  const { cause, provider } = error.details
  const said = wordsOf(cause)
  const { errorCode: error_code, status, message } = error
  const reqId = request.id
  // Who guesses, and who asks too often, is found by address.
  const ip = signIn !== undefined || status === 429 ? request.clientIp : undefined
  const line = { reqId, error_code, sign_in: signIn, ip }
  if (provider !== undefined || said !== undefined) {
    request.log.warn({ ...line, provider, said, err: cause }, message)
  } else if (status >= 500) request.log.error({ reqId, err: cause ?? error }, message)
  else request.log.info({ ...line, err: cause }, message)
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
  const allowed = allowedMethods(house, request).join(', ')
  if (allowed !== '') reply.header('allow', allowed)
  const error = allowed === '' ? notFound() : methodNotAllowed(allowed)
  house.telemetry.metrics.count('postern.refusals', { error_code: error.errorCode })
  return answer(house, error, request, reply)
}

function answer(
  { config }: ErrorsHouse,
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const page = config.dev ? help(error, request, reply) : undefined
  return render(error, request, reply, page)
}

/** Methods under which the path of this request is routed (RFC 9110 §15.5.6). */
function allowedMethods(house: ErrorsHouse, request: FastifyRequest): string[] {
  const path = (request.raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => house.findRoute({ method, url: path }) !== null)
}
