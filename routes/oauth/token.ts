/**
 * Tokens of OAuth clients: the token endpoint (RFC 6749 §3.2), revocation (RFC 7009) and introspection (RFC 7662).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  authenticateClient,
  type Client,
  exchangeCode,
  exchangeDeviceCode,
  introspectToken,
  type Origin,
  refreshClient,
  revokeToken,
  type TokenResponse,
} from '../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  invalidClient,
  oauthInvalidRequest,
  oauthUnsupportedGrantType,
  unauthorizedClient,
} from '../../schemas/errors.ts'
import { deviceGrant } from '../../schemas/oauth/client.ts'
import { formOrJson } from '../../schemas/oauth/request.ts'
import {
  ClientFields,
  OauthTokenRequest,
  OauthTokens,
  requestedResources,
} from '../../schemas/oauth/token.ts'
import { EmptyObject } from '../../schemas/values/empty.ts'

type Grant = (
  client: Client,
  body: OauthTokenRequest,
  origin: Origin,
  now: Date,
) => Promise<TokenResponse>

const schema = {
  summary: 'Token endpoint for OAuth clients (RFC 6749)',
  description:
    'A form, or JSON. The client authenticates with its registered method: client_secret_basic, client_secret_post, private_key_jwt or none.',
  tags: ['oauth'],
  body: OauthTokenRequest,
  consumes: formOrJson,
  response: { 200: OauthTokens, ...ErrorResponses },
}

const endpoint = '/oauth/token'

const token: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  const grants: Record<string, Grant> = {
    authorization_code: (client, body, origin, now) => {
      const { code, redirect_uri: redirectUri, code_verifier: codeVerifier } = body
      const request = { code, redirectUri, codeVerifier, resources: requestedResources(body) }
      return exchangeCode(app, client, request, origin, now)
    },
    [deviceGrant]: (client, body, origin, now) => {
      const request = { deviceCode: body.device_code, resources: requestedResources(body) }
      return exchangeDeviceCode(app, client, request, origin, now)
    },
    refresh_token: (client, body, origin, now) => {
      const { refresh_token: refreshToken, scope } = body
      const request = { refreshToken, scope, resources: requestedResources(body) }
      return refreshClient(app, client, request, origin, now)
    },
  }

  app.post(
    endpoint,
    {
      config: { rateLimit: rateLimits.oauthToken },
      schema,
    },
    async ({ body, headers, clientInfo: info, clientIp: ip }, reply) => {
      const now = new Date()
      const presented = { ...body, authorization: headers.authorization, endpoint }
      const client = await authenticateClient(app, presented, now)
      const { grant_type: type } = body
      if (!type) throw oauthInvalidRequest('grant_type is missing')
      const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
      if (!grant) throw oauthUnsupportedGrantType('Unknown grant_type')
      if (!client.grantTypes.includes(type)) {
        throw unauthorizedClient(`This client is not registered for the grant type ${type}`)
      }
      reply.header('pragma', 'no-cache')
      return grant(client, body, { client: info, ip }, now)
    },
  )
}

const TokenBody = Type.Object(
  {
    token: Type.Optional(Type.String()),
    token_type_hint: Type.Optional(Type.String()),
    ...ClientFields,
  },
  { title: 'OauthToken' },
)

const Introspection = Type.Object({ active: Type.Boolean() }, { additionalProperties: true })

const revoke: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  app.post(
    '/oauth/revoke',
    {
      config: { rateLimit: rateLimits.oauthToken },
      schema: {
        summary: 'Token revocation endpoint (RFC 7009): revokes the session of the token',
        tags: ['oauth'],
        body: TokenBody,
        consumes: formOrJson,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async ({ body, headers, clientInfo: info, clientIp: ip }) => {
      const now = new Date()
      const client = await authenticateClient(
        app,
        { ...body, authorization: headers.authorization, endpoint: '/oauth/revoke' },
        now,
      )
      if (!body.token) throw oauthInvalidRequest('token is missing')
      await revokeToken(app, client, body.token, { client: info, ip }, now)
      return {}
    },
  )

  app.post(
    '/oauth/introspect',
    {
      config: { rateLimit: rateLimits.oauthResource },
      schema: {
        summary: 'Token introspection endpoint for confidential clients (RFC 7662)',
        description: 'For tokens issued to the client, or with one of its resources as audience.',
        tags: ['oauth'],
        body: TokenBody,
        consumes: formOrJson,
        response: { 200: Introspection, ...ErrorResponses },
      },
    },
    async ({ body, headers }) => {
      const now = new Date()
      const client = await authenticateClient(
        app,
        { ...body, authorization: headers.authorization, endpoint: '/oauth/introspect' },
        now,
      )
      if (client.type === 'public') throw invalidClient('Public clients cannot introspect', false)
      if (!body.token) throw oauthInvalidRequest('token is missing')
      return introspectToken(app, client, body.token, now)
    },
  )
}

export const tokenRoutes = { token, revoke }
