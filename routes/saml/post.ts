import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findPostedRequest } from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { HtmlPage } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Query = Type.Object({
  id: Type.Optional(Type.String({ description: 'RelayState of the request' })),
})

const post: FastifyPluginAsyncTypebox = async (fastify) => {
  const { pages, rateLimits } = fastify

  fastify.get(
    '/sso/saml/post',
    {
      config: { rateLimit: rateLimits.sso },
      schema: {
        summary: 'Page that posts a request to an identity provider without HTTP-Redirect',
        tags: ['sso'],
        querystring: Query,
        response: { 200: HtmlPage, 302: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { url, fields } = await findPostedRequest(fastify, request.query.id ?? '', new Date())
      if (!fields) return reply.redirect(url, 302)
      const language = request.headers['accept-language']
      return pages.send(reply, 'continue_at_provider', { language, action: url, fields })
    },
  )
}

export default post
