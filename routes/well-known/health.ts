import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { version } from '../../version.ts'

const Health = Type.Object({
  version: Type.String(),
  name: Type.String(),
  description: Type.String(),
})

const health: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/health',
    {
      // Load balancers and uptime checks send HEAD requests.
      exposeHeadRoute: true,
      schema: {
        summary: 'Liveness check: does not use the database',
        tags: ['operations'],
        response: {
          200: Health,
        },
      },
    },
    async () => ({
      version,
      name: 'Postern',
      description: 'Postern is a user registration and authentication API',
    }),
  )
}

export default health
