/** Routes of the OAuth server, loaded when it is enabled. */
import type { FastifyContextConfig, FastifyPluginAsync } from 'fastify'

import { requireAccessProof } from '../../modules/access/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { oauthServerDisabled } from '../../schemas/errors.ts'

function rejectAll(
  paths: readonly string[],
  config: FastifyContextConfig = {},
): FastifyPluginAsync {
  return async (app) => {
    for (const path of paths) {
      app.all(path, { config, schema: { hide: true } }, rejectDisabled)
    }
  }
}

const rejectDisabled = async () => {
  throw oauthServerDisabled()
}

/** The paths of a disabled OAuth server: rejected with the error code that clients know. */
const disabledPublicPaths = rejectAll(['/oauth/*', '/.well-known/oauth-authorization-server'])

const disabledUserPaths = rejectAll(['/user/oauth/grants', '/oauth/authorizations/*'], {
  isOpenWithoutFactor: true,
  rejectsImpersonation: false,
})

const disabledAdminPaths: FastifyPluginAsync = async (app) => {
  const path = '/admin/oauth/*'
  const schema = { hide: true }
  const writes = app.supportedMethods.filter((method) => method !== 'GET')
  app.get(path, { config: { minimumRole: 'support' }, schema }, rejectDisabled)
  const config = { minimumRole: 'owner' } as const
  app.route({ method: writes, url: path, config, schema, handler: rejectDisabled })
}

const oauth: FastifyPluginAsync = async (app) => {
  const { bearerAuth, config, openapi } = app
  const { publicRoutes, userRoutes, adminRoutes } = config.AUTH_OAUTH_SERVER_ENABLED
    ? await import('./routes.ts')
    : {
        publicRoutes: { disabledPublicPaths },
        userRoutes: { disabledUserPaths },
        adminRoutes: { disabledAdminPaths },
      }

  const users: FastifyPluginAsync = async (group) => {
    group.addHook('preParsing', bearerAuth.requireUser)
    group.addHook('preParsing', bearerAuth.requireFactor)
    group.addHook('onRoute', openapi.needsBearer)
    await registerRoutes(group, userRoutes)
  }
  const admins: FastifyPluginAsync = async (group) => {
    group.addHook('onRequest', bearerAuth.requireAdmin)
    group.addHook('preHandler', requireAccessProof(group))
    group.addHook('onRoute', openapi.needsBearer)
    await registerRoutes(group, adminRoutes)
  }
  await registerRoutes(app, { ...publicRoutes, users, admins })
}

export default oauth
