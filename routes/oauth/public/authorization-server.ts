import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { serverMetadata } from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { ServerMetadata } from '../../../schemas/oauth/metadata.ts'

const path = '/.well-known/oauth-authorization-server'

const authorizationServer: FastifyPluginAsyncTypebox = async (app) => {
  const { config, jwt } = app
  // RFC 8414 §3: the path of the issuer comes after the well-known one.
  const issuerPath = new URL(jwt.issuer, config.AUTH_API_EXTERNAL_URL).pathname.replace(/\/$/, '')
  const paths = [...new Set([path, `${path}${issuerPath}`])]

  for (const url of paths) {
    app.get(
      url,
      {
        schema: {
          summary: 'Authorization server metadata (RFC 8414)',
          tags: ['discovery'],
          hide: url !== path,
          response: { 200: ServerMetadata, ...ErrorResponses },
        },
      },
      async (_request, reply) => {
        reply.header('cache-control', `public, max-age=${jwt.keys.jwksMaxAge}`)
        return serverMetadata(app, new Date())
      },
    )
  }
}

export default authorizationServer
