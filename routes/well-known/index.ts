/** What is public about this server: how it fares, how it is set up, and the keys that check its tokens. */
import type { FastifyPluginAsync } from 'fastify'

import health from './health.ts'
import jwks from './jwks.ts'
import openidConfiguration from './openid-configuration.ts'
import ready from './ready.ts'
import settings from './settings.ts'

const wellKnown: FastifyPluginAsync = async (fastify) => {
  await fastify.register(health)
  await fastify.register(ready)
  await fastify.register(settings)
  await fastify.register(jwks)
  await fastify.register(openidConfiguration)
}

export default wellKnown
