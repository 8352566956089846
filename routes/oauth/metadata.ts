/**
 * Metadata of the authorization server (RFC 8414), and of the UserInfo endpoint as a protected resource (RFC 9728).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { serverMetadata } from '../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ServerMetadata } from '../../schemas/oauth/metadata.ts'

const serverPath = '/.well-known/oauth-authorization-server'

const authorizationServer: FastifyPluginAsyncTypebox = async (app) => {
  const { config, jwt } = app
  // RFC 8414 §3: the path of the issuer comes after the well-known one.
  const issuerPath = new URL(jwt.issuer, config.AUTH_API_EXTERNAL_URL).pathname.replace(/\/$/, '')
  const paths = [...new Set([serverPath, `${serverPath}${issuerPath}`])]

  for (const url of paths) {
    app.get(
      url,
      {
        schema: {
          summary: 'Authorization server metadata (RFC 8414)',
          tags: ['discovery'],
          hide: url !== serverPath,
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

const Words = Type.Array(Type.String())

/** RFC 9728 §2. */
const ResourceMetadata = Type.Object({
  resource: Type.String(),
  authorization_servers: Words,
  jwks_uri: Type.String(),
  scopes_supported: Words,
  bearer_methods_supported: Words,
})

const resourcePath = '/.well-known/oauth-protected-resource'

/** This server as a resource server: its UserInfo endpoint accepts tokens of clients. */
const protectedResource: FastifyPluginAsyncTypebox = async (app) => {
  const { config, jwt } = app
  const base = config.AUTH_API_EXTERNAL_URL
  const basePath = new URL(base).pathname.replace(/\/$/, '')
  const paths = [
    resourcePath,
    `${resourcePath}${basePath}`,
    `${resourcePath}${basePath}/oauth/userinfo`,
  ]

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
          hide: url !== resourcePath,
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

export const metadataRoutes = { authorizationServer, protectedResource }
