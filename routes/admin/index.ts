/** Routes for tokens with an admin role, which is checked before the body is read. */
import type { FastifyPluginAsync, RouteOptions } from 'fastify'

import { requireAccessProof } from '../../modules/access/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { adminBodyLimit } from '../../schemas/values/body-limits.ts'
import audit from './audit.ts'
import customProviders from './custom-providers/list.ts'
import customProvider from './custom-providers/provider.ts'
import events from './events.ts'
import generateLink from './generate-link/index.ts'
import invite from './invite.ts'
import keys from './keys.ts'
import scimConnection, { connectionDeletion } from './scim/connection.ts'
import scimConnections from './scim/connections.ts'
import scimTokens, { tokenRevocation } from './scim/tokens.ts'
import ssoProviders from './sso/list.ts'
import ssoProvider from './sso/provider.ts'
import create from './users/create.ts'
import factor from './users/factor.ts'
import factors from './users/factors.ts'
import impersonate from './users/impersonate.ts'
import list from './users/list.ts'
import mails from './users/mails.ts'
import passkeys from './users/passkeys.ts'
import record from './users/record.ts'
import recoveryCodes from './users/recovery-codes.ts'
import resendInvitation from './users/resend-invitation.ts'
import sessions from './users/sessions.ts'
import username from './users/username.ts'
import webhookDeliveries from './webhooks/deliveries.ts'
import webhooks from './webhooks/list.ts'
import replayWebhook from './webhooks/replay.ts'
import rotateWebhookSecret from './webhooks/rotate-secret.ts'
import testWebhook from './webhooks/test.ts'
import webhook from './webhooks/webhook.ts'

const admins: FastifyPluginAsync = async (app) => {
  const { bearerAuth, config, openapi } = app
  app.addHook('onRequest', bearerAuth.requireAdmin)
  app.addHook('preHandler', requireAccessProof(app))
  app.addHook('onRoute', openapi.needsBearer)
  app.addHook('onRoute', allowLargeBody)

  await registerRoutes(app, {
    sessions,
    keys,
    list,
    create,
    record,
    resendInvitation,
    mails,
    factors,
    factor,
    passkeys,
    username,
    recoveryCodes,
    impersonate,
    generateLink,
    audit,
    events,
    webhooks,
    webhook,
    webhookDeliveries,
    rotateWebhookSecret,
    testWebhook,
    replayWebhook,
    customProviders,
    customProvider,
    ssoProviders,
    ssoProvider,
    scimConnections,
    scimConnection,
    connectionDeletion,
    scimTokens,
    tokenRevocation,
  })
  if (!config.AUTH_CONSOLE_ENABLED) return
  const { consoleRoutes } = await import('./console/index.ts')
  await registerRoutes(app, consoleRoutes)
}

/** Two more roles may only invite. */
const inviters: FastifyPluginAsync = async (app) => {
  const { bearerAuth, openapi } = app
  app.addHook('onRequest', bearerAuth.requireInviter)
  app.addHook('preHandler', requireAccessProof(app))
  app.addHook('onRoute', openapi.needsBearer)
  app.addHook('onRoute', allowLargeBody)

  await registerRoutes(app, { invite })
}

/** Safe here only: the guards run before the body is read. */
function allowLargeBody(route: RouteOptions): void {
  route.bodyLimit ??= adminBodyLimit
}

const admin: FastifyPluginAsync = async (app) => {
  await registerRoutes(app, { inviters, admins })
}

export default admin
