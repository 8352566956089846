import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import {
  authenticateClient,
  type Client,
  exchangeCode,
  exchangeDeviceCode,
  type Origin,
  refreshClient,
  type TokenResponse,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  oauthInvalidRequest,
  oauthUnsupportedGrantType,
  unauthorizedClient,
} from '../../../schemas/errors.ts'
import { deviceGrant } from '../../../schemas/oauth/client.ts'
import { formOrJson } from '../../../schemas/oauth/request.ts'
import { OauthTokenRequest, OauthTokens, requestedResources } from '../../../schemas/oauth/token.ts'

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

export default token
