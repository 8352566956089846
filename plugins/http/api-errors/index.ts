/** Renders every error in both versions of the error body. Causes are logged and never sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import { type ApiError, methodNotAllowed, notFound } from '../../../schemas/errors.ts'
import { errorCodes } from '../../../schemas/values/error-codes.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { maxValueLength, shorten } from '../../observability/logger/shorten.ts'
import { render } from './render.ts'
import { toApiError } from './to-api-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For pages and redirects, which render errors themselves. */
    apiErrors: ApiErrors
  }
  interface FastifyContextConfig {
    /** On sign-in routes: the sign-in method of this request, from a short list. */
    signIn?: (request: FastifyRequest) => string
  }
}

interface ApiErrors {
  /** Maps any thrown value to the error for the client. */
  toApiError(thrown: unknown): ApiError

  /** As `toApiError`, and logs what the client does not see. */
  report(request: FastifyRequest, thrown: unknown): ApiError

  /** The temporary error of this request, which has its own log line (request-log.ts). */
  unavailability(request: FastifyRequest): ApiError | undefined
}

type ErrorsDeps = Deps<
  'config' | 'telemetry' | 'setErrorHandler' | 'setNotFoundHandler' | 'findRoute'
>

export default definePlugin({
  name: 'apiErrors',
  deps: ['config', 'telemetry', 'setErrorHandler', 'setNotFoundHandler', 'findRoute'],
  create(deps): ApiErrors {
    const { metrics } = deps.telemetry
    const unavailable = new WeakMap<FastifyRequest, ApiError>()

    function report(request: FastifyRequest, thrown: unknown): ApiError {
      const error = toApiError(thrown, request.routeOptions.bodyLimit)
      const method = getRejectedSignInMethod(request, error)
      if (method) {
        metrics.count('postern.sign_in_failures', { method, reason: error.errorCode })
      }
      if (isTemporary(error)) unavailable.set(request, error)
      else logError(request, error, method)
      return error
    }

    deps.setErrorHandler((thrown, request, reply) => {
      if (lacksRoute(thrown)) return replyUnrouted(deps, request, reply)
      const error = report(request, thrown)
      metrics.count('postern.errors', { error_code: error.errorCode })
      return answer(deps, error, request, reply)
    })
    deps.setNotFoundHandler((request, reply) => replyUnrouted(deps, request, reply))
    return { toApiError, report, unavailability: (request) => unavailable.get(request) }
  },
})

/** An unreachable database or overload: there may be thousands of these errors a second. */
function isTemporary({ status, details: { cause, provider } }: ApiError): boolean {
  return status === 503 && provider === undefined && getProviderMessage(cause) === undefined
}

/** The method of a rejected sign-in; undefined for other requests. */
function getRejectedSignInMethod(
  request: FastifyRequest,
  { status }: ApiError,
): string | undefined {
  return status < 500 ? request.routeOptions.config.signIn?.(request) : undefined
}

function logError(request: FastifyRequest, error: ApiError, signIn: string | undefined): void {
  const { cause, provider } = error.details
  const providerMessage = getProviderMessage(cause)
  const { errorCode: error_code, status } = error
  const message = withoutAddresses(error.message)
  const request_id = request.id
  // Attacks and exceeded limits are investigated by client address.
  const ip = signIn !== undefined || status === 429 ? request.clientIp : undefined
  const line = { request_id, error_code, sign_in: signIn, ip }
  if (provider !== undefined || providerMessage !== undefined) {
    request.log.warn({ ...line, provider, provider_message: providerMessage, err: cause }, message)
  } else if (status >= 500) request.log.error({ request_id, err: cause ?? error }, message)
  else request.log.info({ ...line, err: cause }, message)
}

/** Removes the address that the client sent: only the client sees it, not the log. */
function withoutAddresses(message: string): string {
  if (!message.includes('@')) return message
  const words = message.split(/([\s",;]+)/)
  return words.map((word) => (word.includes('@') ? '[address]' : word)).join('')
}

/** The error message of an external provider (providers/http/quoted.ts): a warning, not an error of this server. */
function getProviderMessage(cause: unknown): string | undefined {
  const message =
    cause instanceof Error && 'providerMessage' in cause ? cause.providerMessage : undefined
  return typeof message === 'string' && message !== '' ? message : undefined
}

/** Fastify reports the missing body of a QUERY request before the missing route, and no route has this method. */
function lacksRoute(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  return 'code' in thrown && thrown.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
}

function replyUnrouted(deps: ErrorsDeps, request: FastifyRequest, reply: FastifyReply) {
  const allowed = allowedMethods(deps, request).join(', ')
  if (allowed !== '') reply.header('allow', allowed)
  const error = allowed === '' ? notFound() : methodNotAllowed(allowed)
  deps.telemetry.metrics.count('postern.errors', { error_code: error.errorCode })
  return answer(deps, error, request, reply)
}

function answer(
  { config }: ErrorsDeps,
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const page = config.dev ? help(error, request, reply) : undefined
  return render(error, request, reply, page)
}

/**
 * Methods that have a route at this path (RFC 9110 §15.5.6). Empty when the request's own method is among them: then
 * the route serves files and has no file of this name.
 */
function allowedMethods(deps: ErrorsDeps, request: FastifyRequest): string[] {
  const path = (request.raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  const routed = methods.filter((method) => deps.findRoute({ method, url: path }) !== null)
  return routed.some((method) => method === request.method) ? [] : routed
}

// In development, errors link to the section of docs/errors.md that explains them.

/**
 * Puts the page's address in a Link header (RFC 8288) and in the log. Returns it; undefined for an error
 * without a code.
 */
function help(
  { errorCode, message, status }: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  if (!errorCodes.some((code) => code === errorCode)) return undefined
  const page = `/docs/guide/errors#${errorCode}`
  reply.header('link', `<${page}>; rel="help"`)
  const { method, originalUrl } = request
  // A wrong path is the usual error of a new application. In production a path is not logged: it can contain a token.
  const route =
    request.routeOptions.url ?? shorten(originalUrl.replace(/\?.*/s, ''), maxValueLength)
  const line = { method, route, status, error_code: errorCode, help: page }
  // Server errors are already logged with their cause.
  if (status < 500) request.log.warn(line, message)
  return page
}
