import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { ErrorResponses } from '../../../schemas/error.ts'

const Words = Type.Array(Type.String())

/** RFC 9728 §2. */
const ResourceMetadata = Type.Object({
  resource: Type.String(),
  authorization_servers: Words,
  jwks_uri: Type.String(),
  scopes_supported: Words,
  bearer_methods_supported: Words,
})

const path = '/.well-known/oauth-protected-resource'

/** This server as a resource server: its UserInfo endpoint accepts tokens of clients. */
const protectedResource: FastifyPluginAsyncTypebox = async (app) => {
  const { config, jwt } = app
  const base = config.AUTH_API_EXTERNAL_URL
  const basePath = new URL(base).pathname.replace(/\/$/, '')
  const paths = [path, `${path}${basePath}`, `${path}${basePath}/oauth/userinfo`]

  function metadata(): Static<typeof ResourceMetadata> {
    return {
      resource: `${base}/oauth/userinfo`,
      authorization_servers: [jwt.issuer],
      jwks_uri: `${base}/.well-known/jwks.json`,
      scopes_supported: ['openid', 'profile', 'email', 'phone'],
      bearer_methods_supported: ['header', 'body'],
    }
  }

  for (const url of new Set(paths)) {
    app.get(
      url,
      {
        schema: {
          summary: 'Protected resource metadata of the UserInfo endpoint (RFC 9728)',
          tags: ['discovery'],
          hide: url !== path,
          response: { 200: ResourceMetadata, ...ErrorResponses },
        },
      },
      async (_request, reply) => {
        reply.header('cache-control', `public, max-age=${jwt.keys.jwksMaxAge}`)
        return metadata()
      },
    )
  }
}

export default protectedResource
