/** Routes for tokens with an admin role, which is checked before the body is read. */
import type { FastifyPluginAsync, RouteOptions } from 'fastify'

import { requireAccessProof } from '../../modules/access/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { adminBodyLimit } from '../../schemas/values/body-limits.ts'
import audit from './audit.ts'
import { customProviderRoutes } from './custom-providers.ts'
import events from './events.ts'
import generateLink from './generate-link.ts'
import keys from './keys.ts'
import { scimConnectionRoutes } from './scim-connections.ts'
import { ssoProviderRoutes } from './sso-providers.ts'
import { emailRoutes, invite } from './users/emails.ts'
import { factorRoutes } from './users/factors.ts'
import passkeys from './users/passkeys.ts'
import { sessionRoutes } from './users/sessions.ts'
import user from './users/user.ts'
import username from './users/username.ts'
import { usersRoutes } from './users/users.ts'
import { webhookDeliveryRoutes } from './webhook-deliveries.ts'
import { webhookRoutes } from './webhooks.ts'

const admins: FastifyPluginAsync = async (app) => {
  const { bearerAuth, config, openapi } = app
  app.addHook('onRequest', bearerAuth.requireAdmin)
  app.addHook('preHandler', requireAccessProof(app))
  app.addHook('onRoute', openapi.needsBearer)
  app.addHook('onRoute', allowLargeBody)

  await registerRoutes(app, {
    ...sessionRoutes,
    keys,
    ...usersRoutes,
    user,
    ...emailRoutes,
    ...factorRoutes,
    passkeys,
    username,
    generateLink,
    audit,
    events,
    ...webhookRoutes,
    ...webhookDeliveryRoutes,
    ...customProviderRoutes,
    ...ssoProviderRoutes,
    ...scimConnectionRoutes,
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
