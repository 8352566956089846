import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import {
  createStateValue,
  readLinkContext,
  startAuthorization,
  stateCookie,
} from '../../modules/flows/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { AuthorizeQuery } from '../../schemas/external.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const authorize: FastifyPluginAsyncTypebox = async (fastify) => {
  const { flows, rateLimits } = fastify

  fastify.get(
    '/authorize',
    {
      config: { rateLimit: rateLimits.authorize },
      schema: {
        summary: 'Sign in with an external provider: redirects to the provider',
        description: 'Other parameters are forwarded to the provider, except protocol parameters.',
        tags: ['external'],
        querystring: ManyQuery,
        documented: { querystring: AuthorizeQuery },
        response: { 302: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const query = firstValues(request.query)
      const context = readLinkContext(flows, request, query)
      const bound = createStateValue(flows, query)
      const authorization = { query, context, browserHash: bound?.hash }
      const { url, ...flow } = await startAuthorization(flows, authorization, new Date())
      if (bound) reply.header('set-cookie', stateCookie(flows, flow, bound.value))
      return reply.header('referrer-policy', 'no-referrer').redirect(url, 302)
    },
  )
}

export default authorize
