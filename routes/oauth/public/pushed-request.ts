import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  authenticateClient,
  findClient,
  pushedRequestSeconds,
  pushRequest,
  sentValue,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { formOrJson, PushedParameters } from '../../../schemas/oauth/request.ts'
import { ManyQuery } from '../../../schemas/values/query.ts'

const Pushed = Type.Object({ request_uri: Type.String(), expires_in: Type.Integer() })

const endpoint = '/oauth/par'

const pushedRequest: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  app.post(
    endpoint,
    {
      config: { rateLimit: rateLimits.oauthAuthorize },
      schema: {
        summary: 'Pushed authorization request endpoint (RFC 9126)',
        description: 'The parameters of /oauth/authorize, sent by the client.',
        tags: ['oauth'],
        body: ManyQuery,
        documented: { body: PushedParameters },
        consumes: formOrJson,
        response: { 201: Pushed, ...ErrorResponses },
      },
    },
    async ({ body, headers }, reply) => {
      const now = new Date()
      const presented = {
        authorization: headers.authorization,
        endpoint,
        client_id: sentValue(body, 'client_id'),
        client_secret: sentValue(body, 'client_secret'),
        client_assertion: sentValue(body, 'client_assertion'),
        client_assertion_type: sentValue(body, 'client_assertion_type'),
      }
      const client = await authenticateClient(app, presented, now, findClient)
      const requestUri = await pushRequest(app, client, body, now)
      reply.status(201)
      return { request_uri: requestUri, expires_in: pushedRequestSeconds }
    },
  )
}

export default pushedRequest
