import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { NoBody } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { firstValues, ManyQuery } from '../../schemas/query.ts'

const authorize: FastifyPluginAsyncTypebox = async (fastify) => {
  const { flows } = fastify

  fastify.get(
    '/authorize',
    {
      schema: {
        summary: 'Sign in through an external provider: sends the browser there',
        description:
          'Query: provider, scopes (separated by commas or blanks, beyond the default ones), redirect_to, ' +
          'code_challenge and code_challenge_method (RFC 7636), invite_token, bind_browser (true: no other browser can ' +
          'end the sign-in). Everything else is passed on to the ' +
          'provider, except what belongs to the protocol between it and this server.',
        tags: ['external'],
        querystring: ManyQuery,
        response: { 302: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const query = firstValues(request.query)
      const context = flows.linkContext(request, query)
      const bound = flows.bindBrowser(query)
      const asked = { query, context, browserHash: bound?.hash }
      const { url, ...flow } = await flows.beginOauth(asked, new Date())
      if (bound) reply.header('set-cookie', flows.browserCookie(flow, bound.value))
      return reply.header('referrer-policy', 'no-referrer').redirect(url, 302)
    },
  )
}

export default authorize
