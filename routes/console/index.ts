/** The admin console: its session and its files. When disabled, none of it is loaded. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'

const console: FastifyPluginAsync = async (app) => {
  if (!app.config.AUTH_CONSOLE_ENABLED) return
  const [{ default: session }, { default: firstAdmin }, { siteRoutes }] = await Promise.all([
    import('./session.ts'),
    import('./first-admin.ts'),
    import('./site/page.ts'),
  ])
  await registerRoutes(app, { session, firstAdmin, ...siteRoutes })
}

export default console
