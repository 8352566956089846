import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { serverMetadata } from '../../modules/oauth-server/metadata.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ServerMetadata } from '../../schemas/oauth/metadata.ts'

const openidConfiguration: FastifyPluginAsyncTypebox = async (app) => {
  const { jwt } = app

  app.get(
    '/.well-known/openid-configuration',
    {
      schema: {
        summary: 'OpenID provider metadata (OpenID Connect Discovery)',
        tags: ['discovery'],
        response: { 200: ServerMetadata, ...ErrorResponses },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${jwt.keys.jwksMaxAge}`)
      return serverMetadata(app, new Date())
    },
  )
}

export default openidConfiguration
