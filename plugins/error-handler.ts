/** Renders every error in both versions of the error body; causes go to the log only. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import {
  ApiError,
  badJson,
  methodNotAllowed,
  notFound,
  requestEntityTooLarge,
  serviceUnavailable,
  unexpectedFailure,
  validationFailed,
} from '../errors.ts'

const apiVersion = '2024-01-01'

/** Clients that send this version or a later one read `code` as the error code. */
function wantsNamedCode(request: FastifyRequest): boolean {
  const version = request.headers['x-supabase-api-version']
  return typeof version === 'string' && /^\d{4}-\d\d-\d\d$/.test(version) && version >= apiVersion
}

/** What any thrown value means to a client. */
export function toApiError(error: FastifyError | Error): ApiError {
  if (error instanceof ApiError) return error
  if (isDatabaseGone(error)) {
    return serviceUnavailable('The database cannot be reached. Try again shortly.', 5, error)
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if ('validation' in error && Array.isArray(error.validation)) return fromValidation(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return requestEntityTooLarge(1_048_576)
  if (code.startsWith('FST_ERR_CTP') || error instanceof SyntaxError) return badJson(badJsonReason)
  if ('statusCode' in error && error.statusCode === 400) return badJson(badJsonReason)
  return unexpectedFailure(
    'Unexpected failure, please check server logs for more information',
    error,
  )
}

const badJsonReason = 'send one JSON object'

interface Fault {
  keyword: string
  instancePath: string
  message?: string
}

function fromValidation(error: Error & { validation?: Fault[]; validationContext?: string }) {
  const fault = error.validation?.[0]
  const field = fault?.instancePath.slice(1).replaceAll('/', '.')
  const what = field ? `field ${field} ${fault?.message}` : (fault?.message ?? 'wrong shape')
  const inBody = error.validationContext === 'body'
  return inBody && fault?.keyword === 'type' ? badJson(what) : validationFailed(what)
}

/** Connection failures of node and the SQLSTATE classes of a server that is going or coming. */
function isDatabaseGone(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN)$/.test(code)) {
    return true
  }
  if (/^(08...|57P0[1-3]|53300|25006)$/.test(code)) return true
  return /Connection terminated|timeout exceeded when trying to connect/.test(error.message)
}

function render(error: ApiError, request: FastifyRequest, reply: FastifyReply) {
  const { status, errorCode, message, details } = error
  reply.status(status).header('x-sb-error-code', errorCode).header('cache-control', 'no-store')
  if (details.retryAfter !== undefined) reply.header('retry-after', details.retryAfter)
  const extra = {
    ...(details.reasons && { weak_password: { reasons: details.reasons } }),
    ...(status >= 500 && { error_id: request.id }),
    ...(details.oauth && {
      error: details.oauth.error,
      error_description: details.oauth.description,
    }),
  }
  if (wantsNamedCode(request)) {
    reply.header('x-supabase-api-version', apiVersion)
    return reply
      .type('application/json')
      .send(JSON.stringify({ code: errorCode, message, ...extra }))
  }
  const body = { code: status, error_code: errorCode, msg: message, ...extra }
  return reply.type('application/json').send(JSON.stringify(body))
}

function createErrorHandler() {
  return (thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => {
    const error = toApiError(thrown)
    if (error.status >= 500) request.log.error({ err: error.details.cause ?? error }, error.message)
    else request.log.info({ error_code: error.errorCode, err: error.details.cause }, error.message)
    return render(error, request, reply)
  }
}

async function errorHandler(fastify: FastifyInstance) {
  fastify.setErrorHandler(createErrorHandler())
  fastify.setNotFoundHandler((request, reply) => {
    const allowed = allowedMethods(fastify, request)
    if (allowed.length === 0) return render(notFound(), request, reply)
    reply.header('allow', allowed.join(', '))
    return render(methodNotAllowed(allowed.join(', ')), request, reply)
  })
}

/** Methods under which the path of this request is routed (RFC 9110 §15.5.6). */
function allowedMethods(fastify: FastifyInstance, request: FastifyRequest): string[] {
  const path = (request.raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => fastify.findRoute({ method, url: path }) !== null)
}

export default fp(errorHandler, { name: 'error-handler', fastify: '5.x' })
