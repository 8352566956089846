/** The bare Fastify instance: size and time limits, request ids, and URL rewriting before routing. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawRequestDefaultExpression,
} from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { bodyLimit } from '../../schemas/values/body-limits.ts'
import { render } from './api-errors/render.ts'
import { toApiError } from './api-errors/to-api-error.ts'

// Responses to requests that reach no route: unparsable URLs and invalid HTTP.

/** For Fastify's `frameworkErrors`; no hook runs for such a request. */
function replyBadUrl(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('access-control-allow-origin', '*')
  render(toApiError(error), request, reply)
}

const faults: Record<string, [status: number, code: string, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'request_headers_too_large', 'The request headers are too large'],
}

const unreadable = [400, 'bad_request', 'The HTTP request cannot be parsed'] as const

/** For Fastify's `clientErrorHandler`, which has only the socket. */
function replyBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, code, message] = faults[error.code ?? ''] ?? unreadable
  const body = JSON.stringify({ code: status, error_code: code, msg: message })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}

/** Durations are milliseconds. */
export function createInstance(config: Config, log: FastifyBaseLogger) {
  const prefix = config.AUTH_API_PREFIX
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // The request's log fields come from plugins/observability/request-context/index.ts instead.
    childLoggerFactory: (logger) => logger,
    // The first start generates an RSA key, which is slow with little CPU.
    pluginTimeout: 60_000,
    bodyLimit,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Requests on open connections are still served while this process stops.
    return503OnClosing: false,
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      // A token and what proxies add to it; Node's own limit is a quarter of this, all headers together.
      maxHeaderSize: 65_536,
    },
    exposeHeadRoutes: false,
    frameworkErrors: replyBadUrl,
    clientErrorHandler: replyBadHttp,
    genReqId: createRequestId(config.AUTH_REQUEST_ID_HEADER?.toLowerCase()),
    rewriteUrl: ({ url = '/' }) => routedUrl(url, prefix),
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** The client's request id when it is safe to log, otherwise a UUID. */
function createRequestId(header: string | undefined) {
  return ({ headers }: RawRequestDefaultExpression): string => {
    const given = header ? headers[header] : undefined
    return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID()
  }
}

const id = '[^/?]+'
const ofUser = `(?:factors|passkeys)(?:/${id})?`
/** GoTrue also serves these paths with a trailing slash, which some clients send. */
const withSlash = new RegExp(
  `^(/(?:signup|verify|user|callback|reauthenticate|${ofUser}|admin/(?:audit|users(?:/${id}(?:/${ofUser})?)?)))/(?=$|\\?)`,
)

const scimPath = /^\/scim\/[^?]*/

/** SCIM clients append paths to an address that may end in a slash. */
const withoutExtraSlashes = (path: string) => path.replace(/\/{2,}/g, '/').replace(/\/$/, '')

/** Strips the SDKs' gateway prefix, so that no gateway is needed, and the slashes that some clients send. */
function routedUrl(url: string, prefix: string): string {
  const path = prefix && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
  return path.replace(withSlash, '$1').replace(scimPath, withoutExtraSlashes)
}
