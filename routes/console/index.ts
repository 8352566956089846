/** The admin console: its session and its files. When disabled, none of it is loaded. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'

const console: FastifyPluginAsync = async (app) => {
  if (!app.config.AUTH_CONSOLE_ENABLED) return
  const [{ sessionRoutes }, { siteRoutes }] = await Promise.all([
    import('./session/index.ts'),
    import('./site/index.ts'),
  ])
  await registerRoutes(app, { ...sessionRoutes, ...siteRoutes })
}

export default console
