import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  authenticateClient,
  introspectToken,
  revokeToken,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { invalidClient, oauthInvalidRequest } from '../../../schemas/errors.ts'
import { formOrJson } from '../../../schemas/oauth/request.ts'
import { ClientFields } from '../../../schemas/oauth/token.ts'
import { EmptyObject } from '../../../schemas/values/empty.ts'

const Body = Type.Object(
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
        body: Body,
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
        body: Body,
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

export default revoke
