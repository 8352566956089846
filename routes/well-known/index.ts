/** Public information: health, settings, and the keys that verify tokens. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import { discoveryRoutes } from './discovery.ts'
import { healthRoutes } from './health.ts'
import settings from './settings.ts'

const wellKnown: FastifyPluginAsync = async (app) => {
  await registerRoutes(app, { ...healthRoutes, settings, ...discoveryRoutes })
}

export default wellKnown
