/** The bare Fastify instance: size and time limits, request ids, and URL rewriting before routing. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  LogController,
  type RawRequestDefaultExpression,
} from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { bodyLimit } from '../../schemas/values/body-limits.ts'
import { replyBadHttp, replyBadUrl } from './api-errors/unroutable.ts'

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

/** Strips the SDKs' gateway prefix, so that no gateway is needed, and the trailing slash that some clients send. */
function routedUrl(url: string, prefix: string): string {
  const path = prefix && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
  return path.replace(withSlash, '$1')
}
