/** The map of the house: the platform, the nouns of the domain and the groups of routes, each in boot order. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import { createInstance } from './instance.ts'
import audit from './plugins/accounts/audit/index.ts'
import credentials from './plugins/accounts/credentials/index.ts'
import emails from './plugins/accounts/emails/index.ts'
import factors from './plugins/accounts/factors/index.ts'
import flows from './plugins/accounts/flows/index.ts'
import identities from './plugins/accounts/identities/index.ts'
import otp from './plugins/accounts/otp/index.ts'
import sessions from './plugins/accounts/sessions/index.ts'
import users from './plugins/accounts/users/index.ts'
import webauthn from './plugins/accounts/webauthn/index.ts'
import apiErrors from './plugins/api-errors.ts'
import audience from './plugins/audience.ts'
import bearerAuth from './plugins/bearer-auth.ts'
import bodyParser from './plugins/body-parser.ts'
import captcha from './plugins/captcha.ts'
import cleanUp from './plugins/clean-up.ts'
import clientIp from './plugins/client-ip.ts'
import type { Config } from './plugins/config/config.ts'
import config from './plugins/config/index.ts'
import context from './plugins/context.ts'
import db from './plugins/db.ts'
import devHosts from './plugins/dev-hosts.ts'
import devInbox from './plugins/dev-inbox.ts'
import encryption from './plugins/encryption.ts'
import encryptionProbe from './plugins/encryption-probe.ts'
import events from './plugins/events.ts'
import hooks from './plugins/hooks.ts'
import httpClient from './plugins/http-client.ts'
import httpHeaders from './plugins/http-headers.ts'
import jobQueue from './plugins/job-queue.ts'
import jwt from './plugins/jwt.ts'
import languages from './plugins/languages.ts'
import mailer from './plugins/mailer.ts'
import oauthProviders from './plugins/oauth-providers.ts'
import openapi from './plugins/openapi.ts'
import pages from './plugins/pages.ts'
import passwords from './plugins/passwords.ts'
import pool from './plugins/pool.ts'
import rateLimits from './plugins/rate-limits.ts'
import readiness from './plugins/readiness.ts'
import { registerAll } from './plugins/register-all.ts'
import requestDuration from './plugins/request-duration.ts'
import requestLog from './plugins/request-log.ts'
import schemaCompilers from './plugins/schema-compilers.ts'
import sms from './plugins/sms.ts'
import takeover from './plugins/takeover.ts'
import telemetry from './plugins/telemetry.ts'
import unusedConnections from './plugins/unused-connections.ts'
import adminRoutes from './routes/admin/index.ts'
import authRoutes from './routes/auth/index.ts'
import devRoutes from './routes/dev/index.ts'
import userRoutes from './routes/user/index.ts'
import wellKnownRoutes from './routes/well-known/index.ts'

export interface AppOptions {
  config: Config
  log: FastifyBaseLogger
}

const platform = [
  // What every request and every answer passes.
  ...[context, unusedConnections, telemetry, schemaCompilers, apiErrors, bodyParser],
  ...[httpHeaders, requestDuration, clientIp, audience, rateLimits, devHosts, openapi],
  // The database, the way out to other servers, and work in the background.
  ...[pool, db, takeover, encryption, encryptionProbe],
  ...[httpClient, hooks, jobQueue, events, readiness, cleanUp],
  // Who is asking.
  ...[jwt, bearerAuth, requestLog, captcha, passwords],
  // Messages, and signing in with an account from elsewhere.
  ...[languages, pages, devInbox, mailer, sms, oauthProviders],
]

const nouns = [
  ...[audit, otp, flows, emails, sessions, users],
  ...[webauthn, factors, credentials, identities],
]

const groups = { wellKnownRoutes, authRoutes, userRoutes, adminRoutes, devRoutes }

/** Builds the server; nothing listens yet and the database must be migrated. */
export async function buildApp({ config: values, log }: AppOptions): Promise<FastifyInstance> {
  const app = createInstance(values, log)
  await app.register(config, { config: values })
  for (const plugin of platform) await app.register(plugin)
  for (const noun of nouns) await app.register(noun)
  await registerAll(app, groups)
  return app
}
