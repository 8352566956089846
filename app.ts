/** The map of the house: every plugin and route, in boot order. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'

import adminTrail from './plugins/accounts/admin-trail.ts'
import emailChanges from './plugins/accounts/email-changes.ts'
import externalFlows from './plugins/accounts/external-flows.ts'
import externalSignIns from './plugins/accounts/external-sign-ins.ts'
import flows from './plugins/accounts/flows.ts'
import identities from './plugins/accounts/identities.ts'
import invitations from './plugins/accounts/invitations.ts'
import letters from './plugins/accounts/letters.ts'
import linkGeneration from './plugins/accounts/link-generation.ts'
import links from './plugins/accounts/links.ts'
import mailRequests from './plugins/accounts/mail-requests.ts'
import oneTimeTokens from './plugins/accounts/one-time-tokens.ts'
import passwordChanges from './plugins/accounts/password-changes.ts'
import phoneChanges from './plugins/accounts/phone-changes.ts'
import phoneProofs from './plugins/accounts/phone-proofs.ts'
import phoneRequests from './plugins/accounts/phone-requests.ts'
import phoneSignUps from './plugins/accounts/phone-sign-ups.ts'
import phones from './plugins/accounts/phones.ts'
import reauthentications from './plugins/accounts/reauthentications.ts'
import recipients from './plugins/accounts/recipients.ts'
import sendLimits from './plugins/accounts/send-limits.ts'
import sessions from './plugins/accounts/sessions.ts'
import signInThrottle from './plugins/accounts/sign-in-throttle.ts'
import signUps from './plugins/accounts/sign-ups.ts'
import userChanges from './plugins/accounts/user-changes.ts'
import userRecords from './plugins/accounts/user-records.ts'
import userSearch from './plugins/accounts/user-search.ts'
import verifications from './plugins/accounts/verifications.ts'
import audit from './plugins/audit.ts'
import bearerAuth from './plugins/bearer-auth.ts'
import bodyParser from './plugins/body-parser.ts'
import breachedPasswords from './plugins/breached-passwords.ts'
import captcha from './plugins/captcha.ts'
import cleanUp from './plugins/clean-up.ts'
import clientIp from './plugins/client-ip.ts'
import config from './plugins/config.ts'
import db from './plugins/db.ts'
import devInbox from './plugins/dev-inbox.ts'
import devOidc from './plugins/dev-oidc.ts'
import encryption from './plugins/encryption.ts'
import { answerBadHttp, answerBadUrl } from './plugins/error-handler/unroutable.ts'
import errorHandler from './plugins/error-handler.ts'
import httpClient from './plugins/http-client.ts'
import httpHeaders from './plugins/http-headers.ts'
import jobQueue from './plugins/job-queue.ts'
import jwt from './plugins/jwt.ts'
import mailer from './plugins/mailer.ts'
import oauthProviders from './plugins/oauth-providers.ts'
import openapi from './plugins/openapi.ts'
import passwords from './plugins/passwords.ts'
import rateLimit from './plugins/rate-limit.ts'
import readiness from './plugins/readiness.ts'
import redirects from './plugins/redirects.ts'
import requestLog from './plugins/request-log.ts'
import serializers from './plugins/serializers.ts'
import sessionPolicy from './plugins/session-policy.ts'
import signingKeys from './plugins/signing-keys.ts'
import sms from './plugins/sms.ts'
import telemetry from './plugins/telemetry.ts'
import validators from './plugins/validators.ts'
import adminAudit from './routes/admin/audit.ts'
import adminGenerateLink from './routes/admin/generate-link.ts'
import adminKeys from './routes/admin/keys.ts'
import adminUserSessions from './routes/admin/user-sessions.ts'
import adminUsersCreate from './routes/admin/users/create.ts'
import adminUsersFactors from './routes/admin/users/factors.ts'
import adminUsersImpersonate from './routes/admin/users/impersonate.ts'
import adminUsersList from './routes/admin/users/list.ts'
import adminUsersRecord from './routes/admin/users/record.ts'
import authorize from './routes/authorize.ts'
import callback from './routes/callback.ts'
import dev from './routes/dev/index.ts'
import docs from './routes/docs.ts'
import health from './routes/health.ts'
import invite from './routes/invite.ts'
import logout from './routes/logout.ts'
import magiclink from './routes/magiclink.ts'
import otp from './routes/otp.ts'
import ready from './routes/ready.ts'
import reauthenticate from './routes/reauthenticate.ts'
import recover from './routes/recover.ts'
import resend from './routes/resend.ts'
import sessionsOfPerson from './routes/sessions.ts'
import settings from './routes/settings.ts'
import signup from './routes/signup.ts'
import token from './routes/token/index.ts'
import user from './routes/user.ts'
import userIdentities from './routes/user-identities.ts'
import verify from './routes/verify/index.ts'
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
  await app.register(telemetry)
  await app.register(validators)
  await app.register(serializers)
  await app.register(errorHandler)
  await app.register(bodyParser)
  await app.register(httpHeaders)
  await app.register(clientIp)
  await app.register(rateLimit)
  await app.register(openapi)
  await app.register(db)
  await app.register(encryption)
  await app.register(httpClient)
  await app.register(jobQueue)
  await app.register(readiness)
  await app.register(signingKeys)
  await app.register(jwt)
  await app.register(sessionPolicy)
  await app.register(bearerAuth)
  await app.register(requestLog)
  await app.register(captcha)
  await app.register(breachedPasswords)
  await app.register(passwords)
  await app.register(audit)
  await app.register(devInbox)
  await app.register(cleanUp)
  await app.register(mailer)
  await app.register(sms, { deliver: app.devInbox?.addSms })

  await app.register(devOidc)
  await app.register(oauthProviders)
  await app.register(redirects)
  await app.register(oneTimeTokens)
  await app.register(sendLimits)
  await app.register(phones)
  await app.register(phoneProofs)
  await app.register(signInThrottle)
  await app.register(links)
  await app.register(recipients)
  await app.register(letters)
  await app.register(flows)
  await app.register(sessions)
  await app.register(signUps)
  await app.register(phoneSignUps)
  await app.register(phoneRequests)
  await app.register(emailChanges)
  await app.register(phoneChanges)
  await app.register(mailRequests)
  await app.register(invitations)
  await app.register(reauthentications)
  await app.register(passwordChanges)
  await app.register(userChanges)
  await app.register(verifications)
  await app.register(adminTrail)
  await app.register(userRecords)
  await app.register(userSearch)
  await app.register(linkGeneration)
  await app.register(externalFlows)
  await app.register(externalSignIns)
  await app.register(identities)

  await app.register(health)
  await app.register(ready)
  await app.register(settings)
  await app.register(jwks)
  await app.register(openidConfiguration)
  await app.register(signup)
  await app.register(otp)
  await app.register(magiclink)
  await app.register(recover)
  await app.register(resend)
  await app.register(invite)
  await app.register(verify)
  await app.register(token)
  await app.register(user)
  await app.register(reauthenticate)
  await app.register(userIdentities)
  await app.register(authorize)
  await app.register(callback)
  await app.register(logout)
  await app.register(sessionsOfPerson)
  await app.register(adminUserSessions)
  await app.register(adminKeys)
  await app.register(adminUsersList)
  await app.register(adminUsersCreate)
  await app.register(adminUsersRecord)
  await app.register(adminUsersFactors)
  await app.register(adminUsersImpersonate)
  await app.register(adminGenerateLink)
  await app.register(adminAudit)
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
    // What still arrives on an open connection while this process stops is served like anything else.
    return503OnClosing: false,
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
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** Without the SDKs' gateway prefix, so that no gateway is needed, and without the slash some clients end a path with. */
function routedUrl(url: string, prefix: string): string {
  const path = prefix && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
  return path.replace(/^(\/(?:signup|verify|user|callback|factors|admin\/users))\/(?=$|\?)/, '$1')
}
