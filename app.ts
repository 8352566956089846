/** The map of the house: every plugin and route, in boot order. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'

import flows from './plugins/accounts/flows.ts'
import letters from './plugins/accounts/letters.ts'
import links from './plugins/accounts/links.ts'
import oneTimeTokens from './plugins/accounts/one-time-tokens.ts'
import phones from './plugins/accounts/phones.ts'
import sendLimits from './plugins/accounts/send-limits.ts'
import sessions from './plugins/accounts/sessions.ts'
import signInThrottle from './plugins/accounts/sign-in-throttle.ts'
import signUps from './plugins/accounts/sign-ups.ts'
import verifications from './plugins/accounts/verifications.ts'
import audit from './plugins/audit.ts'
import bearerAuth from './plugins/bearer-auth.ts'
import bodyParser from './plugins/body-parser.ts'
import breachedPasswords from './plugins/breached-passwords.ts'
import captcha from './plugins/captcha.ts'
import clientIp from './plugins/client-ip.ts'
import config from './plugins/config.ts'
import db from './plugins/db.ts'
import devInbox from './plugins/dev-inbox.ts'
import encryption from './plugins/encryption.ts'
import { answerBadHttp, answerBadUrl } from './plugins/error-handler/unroutable.ts'
import errorHandler from './plugins/error-handler.ts'
import httpClient from './plugins/http-client.ts'
import httpHeaders from './plugins/http-headers.ts'
import jobQueue from './plugins/job-queue.ts'
import jwt from './plugins/jwt.ts'
import mailer from './plugins/mailer.ts'
import metrics from './plugins/metrics.ts'
import openapi from './plugins/openapi.ts'
import passwords from './plugins/passwords.ts'
import rateLimit from './plugins/rate-limit.ts'
import redirects from './plugins/redirects.ts'
import requestLog from './plugins/request-log.ts'
import signingKeys from './plugins/signing-keys.ts'
import sms from './plugins/sms.ts'
import adminKeys from './routes/admin/keys.ts'
import dev from './routes/dev/index.ts'
import docs from './routes/docs.ts'
import health from './routes/health.ts'
import logout from './routes/logout.ts'
import settings from './routes/settings.ts'
import signup from './routes/signup.ts'
import token from './routes/token/index.ts'
import user from './routes/user.ts'
import verifyCode from './routes/verify/code.ts'
import verifyLink from './routes/verify/link.ts'
import jwks from './routes/well-known/jwks.ts'
import openidConfiguration from './routes/well-known/openid-configuration.ts'
import type { Config } from './schemas/config/config.ts'

export interface AppOptions {
  config: Config
  log: FastifyBaseLogger
}

/** Builds the server; nothing listens yet and the database must be migrated. */
export async function buildApp({ config: values, log }: AppOptions): Promise<FastifyInstance> {
  const app = createInstance(values, log)

  await app.register(config, { config: values })
  await app.register(errorHandler)
  await app.register(bodyParser)
  await app.register(httpHeaders)
  await app.register(clientIp)
  await app.register(metrics)
  await app.register(rateLimit)
  await app.register(openapi)
  await app.register(db)
  await app.register(encryption)
  await app.register(httpClient)
  await app.register(jobQueue)
  await app.register(signingKeys)
  await app.register(jwt)
  await app.register(bearerAuth)
  await app.register(requestLog)
  await app.register(captcha)
  await app.register(breachedPasswords)
  await app.register(passwords)
  await app.register(audit)
  await app.register(devInbox)
  await app.register(mailer)
  await app.register(sms, { deliver: app.devInbox?.addSms })

  await app.register(redirects)
  await app.register(oneTimeTokens)
  await app.register(sendLimits)
  await app.register(phones)
  await app.register(signInThrottle)
  await app.register(links)
  await app.register(letters)
  await app.register(flows)
  await app.register(sessions)
  await app.register(signUps)
  await app.register(verifications)

  await app.register(health)
  await app.register(settings)
  await app.register(jwks)
  await app.register(openidConfiguration)
  await app.register(signup)
  await app.register(verifyCode)
  await app.register(verifyLink)
  await app.register(token)
  await app.register(user)
  await app.register(logout)
  await app.register(adminKeys)
  await app.register(dev)
  await app.register(docs)
  return app
}

function createInstance(values: Config, log: FastifyBaseLogger) {
  const prefix = values.AUTH_API_PREFIX
  const requestIdHeader = values.AUTH_REQUEST_ID_HEADER?.toLowerCase()
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1_048_576,
    handlerTimeout: Math.ceil(values.AUTH_API_MAX_REQUEST_DURATION * 1000),
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    exposeHeadRoutes: false,
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerBadHttp,
    genReqId: (request) => {
      const given = requestIdHeader ? request.headers[requestIdHeader] : undefined
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)
        ? given
        : crypto.randomUUID()
    },
    rewriteUrl: ({ url = '/' }) => routedUrl(url, prefix),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** Without the SDKs' gateway prefix, so that no gateway is needed, and without the slash some clients end a path with. */
function routedUrl(url: string, prefix: string): string {
  const path = prefix && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
  return path.replace(/^(\/(?:signup|verify|user|callback|factors|admin\/users))\/(?=$|\?)/, '$1')
}
