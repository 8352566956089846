import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  authenticateClient,
  createDeviceCode,
  deviceSeconds,
  findClient,
  pollSeconds,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { formOrJson } from '../../../schemas/oauth/request.ts'
import { ClientFields, requestedResources } from '../../../schemas/oauth/token.ts'

const Text = Type.String()

const Fields = Type.Object(
  {
    scope: Type.Optional(Text),
    resource: Type.Optional(Type.Union([Text, Type.Array(Text)])),
    ...ClientFields,
  },
  { title: 'DeviceAuthorizationRequest' },
)

/** Nothing is required of a client that authenticates with Basic. */
const Body = Type.Union([Fields, Type.Null()])

const Codes = Type.Object({
  device_code: Text,
  user_code: Text,
  verification_uri: Text,
  verification_uri_complete: Text,
  expires_in: Type.Integer(),
  interval: Type.Integer(),
})

const endpoint = '/oauth/device_authorization'

const deviceAuthorization: FastifyPluginAsyncTypebox = async (app) => {
  const { config, rateLimits } = app
  const page = `${config.AUTH_API_EXTERNAL_URL}/oauth/device`

  app.post(
    endpoint,
    {
      config: { rateLimit: rateLimits.oauthAuthorize },
      schema: {
        summary: 'Device authorization endpoint (RFC 8628)',
        tags: ['oauth'],
        body: Body,
        consumes: formOrJson,
        response: { 200: Codes, ...ErrorResponses },
      },
    },
    async ({ body, headers }) => {
      const now = new Date()
      const presented = { ...body, authorization: headers.authorization, endpoint }
      const client = await authenticateClient(app, presented, now, findClient)
      const requested = { scope: body?.scope, resources: requestedResources(body ?? {}) }
      const { deviceCode, userCode } = await createDeviceCode(app, client, requested, now)
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: deviceSeconds,
        interval: pollSeconds,
      }
    },
  )
}

export default deviceAuthorization
