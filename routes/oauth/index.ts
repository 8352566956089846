/** Routes of the OAuth server, loaded when it is enabled. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import { disabledAdminPaths, disabledPublicPaths, disabledUserPaths } from './switched-off.ts'

const oauth: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, config, openapi } = fastify
  const { publicRoutes, userRoutes, oauthAdminRoutes } = config.AUTH_OAUTH_SERVER_ENABLED
    ? await loadRoutes()
    : {
        publicRoutes: { disabledPublicPaths },
        userRoutes: { disabledUserPaths },
        oauthAdminRoutes: { disabledAdminPaths },
      }

  const users: FastifyPluginAsync = async (group) => {
    group.addHook('preParsing', bearerAuth.requireUser)
    group.addHook('preParsing', bearerAuth.requireFactor)
    group.addHook('onRoute', openapi.needsBearer)
    await registerRoutes(group, userRoutes)
  }
  const admins: FastifyPluginAsync = async (group) => {
    group.addHook('onRequest', bearerAuth.requireAdmin)
    group.addHook('onRoute', openapi.needsBearer)
    await registerRoutes(group, oauthAdminRoutes)
  }
  await registerRoutes(fastify, { ...publicRoutes, users, admins })
}

async function loadRoutes() {
  const [open, user, admin] = await Promise.all([
    import('./public/index.ts'),
    import('./user/index.ts'),
    import('./admin/index.ts'),
  ])
  return { ...open, ...user, ...admin }
}

export default oauth
