/** Lists the plugins, the domain modules and the route groups in boot order. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import type { Config } from '../config/groups/index.ts'
import audit from '../modules/audit/plugin.ts'
import credentials from '../modules/credentials/plugin.ts'
import emails from '../modules/emails/plugin.ts'
import flows from '../modules/flows/plugin.ts'
import otp from '../modules/otp/plugin.ts'
import passkeys from '../modules/passkeys/plugin.ts'
import saml from '../modules/saml/plugin.ts'
import usernames from '../modules/usernames/plugin.ts'
import users from '../modules/users/plugin.ts'
import cleanup from '../plugins/background/cleanup/index.ts'
import events from '../plugins/background/events/index.ts'
import jobQueue from '../plugins/background/job-queue/index.ts'
import usageCounts from '../plugins/background/usage-counts/index.ts'
import config, { type Examine } from '../plugins/config.ts'
import db from '../plugins/database/db.ts'
import gotrueMigration from '../plugins/database/gotrue-migration.ts'
import pool from '../plugins/database/pool/index.ts'
import readDb from '../plugins/database/read-db/index.ts'
import apiErrors from '../plugins/http/api-errors/index.ts'
import audience from '../plugins/http/audience.ts'
import bodyParser from '../plugins/http/body-parser/index.ts'
import captcha from '../plugins/http/captcha.ts'
import clientInfo from '../plugins/http/client-info/index.ts'
import devHosts from '../plugins/http/dev-hosts.ts'
import httpHeaders from '../plugins/http/http-headers.ts'
import idleConnections from '../plugins/http/idle-connections.ts'
import { createInstance } from '../plugins/http/instance.ts'
import openapi from '../plugins/http/openapi/index.ts'
import pages from '../plugins/http/pages/index.ts'
import rateLimits from '../plugins/http/rate-limits/index.ts'
import requestDeadline from '../plugins/http/request-deadline.ts'
import schemaCompilers from '../plugins/http/schema-compilers.ts'
import languages from '../plugins/localization/languages/index.ts'
import devInbox from '../plugins/messaging/dev-inbox.ts'
import emailValidation from '../plugins/messaging/email-validation/index.ts'
import mailer from '../plugins/messaging/mailer/index.ts'
import sms from '../plugins/messaging/sms/index.ts'
import readiness from '../plugins/observability/readiness.ts'
import requestContext from '../plugins/observability/request-context/index.ts'
import requestLog from '../plugins/observability/request-log.ts'
import telemetry from '../plugins/observability/telemetry/index.ts'
import hooks from '../plugins/outgoing/hooks/index.ts'
import httpClient from '../plugins/outgoing/http-client/index.ts'
import oauthProviders from '../plugins/outgoing/oauth-providers/index.ts'
import { registerRoutes } from '../plugins/register-routes.ts'
import bearerAuth from '../plugins/security/bearer-auth/index.ts'
import encryption from '../plugins/security/encryption/index.ts'
import encryptionProbe from '../plugins/security/encryption-probe.ts'
import jwt from '../plugins/security/jwt/index.ts'
import passwords from '../plugins/security/passwords/index.ts'
import runtimeSettings from '../plugins/security/runtime-settings/index.ts'
import adminRoutes from '../routes/admin/index.ts'
import authRoutes from '../routes/auth/index.ts'
import consoleRoutes from '../routes/console/index.ts'
import devRoutes from '../routes/dev/index.ts'
import oauthRoutes from '../routes/oauth/index.ts'
import organizationRoutes from '../routes/organizations/index.ts'
import pageRoutes from '../routes/pages/index.ts'
import samlRoutes from '../routes/saml/index.ts'
import scimRoutes from '../routes/scim/index.ts'
import userRoutes from '../routes/user/index.ts'
import wellKnownRoutes from '../routes/well-known/index.ts'

interface AppOptions {
  config: Config
  log: FastifyBaseLogger
  /** The checks of `npm run doctor`. */
  examine?: Examine
}

const platform = [
  // Request and response handling.
  requestContext,
  idleConnections,
  telemetry,
  schemaCompilers,
  apiErrors,
  bodyParser,
  httpHeaders,
  requestDeadline,
  clientInfo,
  audience,
  rateLimits,
  devHosts,
  openapi,
  // Database, outgoing requests and background jobs.
  pool,
  db,
  readDb,
  gotrueMigration,
  encryption,
  encryptionProbe,
  runtimeSettings,
  httpClient,
  hooks,
  jobQueue,
  events,
  readiness,
  cleanup,
  usageCounts,
  // Authentication.
  jwt,
  bearerAuth,
  requestLog,
  captcha,
  passwords,
  // Messages and external sign-in.
  languages,
  pages,
  devInbox,
  mailer,
  emailValidation,
  sms,
  oauthProviders,
]

const modules = [audit, otp, flows, emails, usernames, users, credentials, passkeys, saml]

const groups = {
  wellKnownRoutes,
  authRoutes,
  samlRoutes,
  scimRoutes,
  userRoutes,
  adminRoutes,
  organizationRoutes,
  oauthRoutes,
  pageRoutes,
  consoleRoutes,
  devRoutes,
}

/** Builds the server without listening; the database must be migrated. */
export async function buildApp({
  config: values,
  log,
  examine,
}: AppOptions): Promise<FastifyInstance> {
  const app = createInstance(values, log)
  await app.register(config, { config: values, examine })
  for (const plugin of platform) await app.register(plugin)
  for (const module of modules) await app.register(module)
  await registerRoutes(app, groups)
  return app
}
