import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { redirectWithOauthError } from '../../modules/flows/index.ts'
import { acceptLogout } from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { HtmlPage } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const Form = Type.Union([ManyQuery, Type.Null()])

/** Single logout: requests and responses of identity providers through the browser. */
const slo: FastifyPluginAsyncTypebox = async (fastify) => {
  const { apiErrors, config, pages, rateLimits } = fastify
  const options = { rateLimit: rateLimits.samlAssertion }
  const response = { 200: HtmlPage, 302: NoBody, 303: NoBody, ...ErrorResponses }

  fastify.get(
    '/sso/saml/slo',
    {
      config: options,
      schema: { summary: 'Single logout by HTTP-Redirect (SAML 2.0)', tags: ['sso'], response },
    },
    (request, reply) => accept(request, reply, { query: getQuery(request.originalUrl) }),
  )

  fastify.post(
    '/sso/saml/slo',
    {
      config: options,
      schema: {
        summary: 'Single logout by HTTP-POST (SAML 2.0)',
        tags: ['sso'],
        body: Form,
        response,
      },
    },
    (request, reply) => accept(request, reply, { fields: firstValues(request.body ?? {}) }),
  )

  async function accept(
    request: FastifyRequest,
    reply: FastifyReply,
    posted: { query: string } | { fields: Record<string, string> },
  ) {
    reply.header('referrer-policy', 'no-referrer')
    try {
      const { url, fields } = await acceptLogout(fastify, posted, request.clientIp, new Date())
      if (!fields) return reply.redirect(url, 302)
      const language = request.headers['accept-language']
      return pages.send(reply, 'continue_at_provider', { language, action: url, fields })
    } catch (thrown) {
      const error = apiErrors.report(request, thrown)
      const site = redirectWithOauthError(config.AUTH_SITE_URL, error, { inFragment: false })
      return reply.redirect(site, 303)
    }
  }
}

/** The raw query, as it was signed. */
function getQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

export default slo
