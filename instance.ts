/** The bare Fastify instance: limits of time and size, request ids, and what becomes of a URL before it is routed. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  LogController,
  type RawRequestDefaultExpression,
} from 'fastify'

import { answerBadHttp, answerBadUrl } from './plugins/api-errors/unroutable.ts'
import { bodyLimit } from './plugins/body-parser/body-limit.ts'
import type { Config } from './plugins/config/config.ts'

/** Durations are milliseconds. */
export function createInstance(config: Config, log: FastifyBaseLogger) {
  const prefix = config.AUTH_API_PREFIX
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // What a logger of its own would add to the lines of a request, they have from plugins/context.ts.
    childLoggerFactory: (logger) => logger,
    bodyLimit,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // What still arrives on an open connection while this process stops is served like anything else.
    return503OnClosing: false,
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      // A token and what proxies add to it; Node's own limit is a quarter of this, all headers together.
      maxHeaderSize: 65_536,
    },
    exposeHeadRoutes: false,
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerBadHttp,
    genReqId: createRequestId(config.AUTH_REQUEST_ID_HEADER?.toLowerCase()),
    rewriteUrl: ({ url = '/' }) => routedUrl(url, prefix),
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** What the header says, when it is fit for a log; otherwise a UUID. */
function createRequestId(header: string | undefined) {
  return ({ headers }: RawRequestDefaultExpression): string => {
    const given = header ? headers[header] : undefined
    return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID()
  }
}

const id = '[^/?]+'
const ofPerson = `(?:factors|passkeys)(?:/${id})?`
/** GoTrue serves these paths with a slash at the end as well, which some clients send. */
const withSlash = new RegExp(
  `^(/(?:signup|verify|user|callback|reauthenticate|${ofPerson}|admin/(?:audit|users(?:/${id}(?:/${ofPerson})?)?)))/(?=$|\\?)`,
)

/** Without the SDKs' gateway prefix, so that no gateway is needed, and without the slash some clients end a path with. */
function routedUrl(url: string, prefix: string): string {
  const path = prefix && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
  return path.replace(withSlash, '$1')
}
