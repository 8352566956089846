/** What is public about this server: how it fares, how it is set up, and the keys that check its tokens. */
import type { FastifyPluginAsync } from 'fastify'

import { registerAll } from '../../plugins/register-all.ts'
import health from './health.ts'
import jwks from './jwks.ts'
import openidConfiguration from './openid-configuration.ts'
import ready from './ready.ts'
import settings from './settings.ts'

const wellKnown: FastifyPluginAsync = async (fastify) => {
  await registerAll(fastify, { health, ready, settings, jwks, openidConfiguration })
}

export default wellKnown
