/** Public information: health, settings, and the keys that verify tokens. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import health from './health.ts'
import jwks from './jwks.ts'
import openidConfiguration from './openid-configuration.ts'
import ready from './ready.ts'
import securityTxt from './security-txt.ts'
import settings from './settings.ts'

const wellKnown: FastifyPluginAsync = async (app) => {
  await registerRoutes(app, { health, ready, settings, jwks, openidConfiguration, securityTxt })
}

export default wellKnown
