import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { redirectWithOauthError } from '../../modules/flows/index.ts'
import { acceptLogout } from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { HtmlPage } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const Form = Type.Union([ManyQuery, Type.Null()])
/** A request or a response. */
const LogoutMessage = Type.Object(
  {
    SAMLRequest: Type.Optional(Type.String({ description: 'In base64' })),
    SAMLResponse: Type.Optional(Type.String({ description: 'In base64' })),
    RelayState: Type.Optional(Type.String()),
    SigAlg: Type.Optional(Type.String({ description: 'HTTP-Redirect only' })),
    Signature: Type.Optional(Type.String({ description: 'HTTP-Redirect only' })),
  },
  { title: 'SamlLogoutMessage' },
)

/** Single logout: requests and responses of identity providers through the browser. */
const slo: FastifyPluginAsyncTypebox = async (app) => {
  const { config, pages, rateLimits } = app
  const options = { rateLimit: rateLimits.samlAssertion }
  const response = { 200: HtmlPage, 302: NoBody, 303: NoBody, ...ErrorResponses }

  app.get(
    '/sso/saml/slo',
    {
      config: options,
      schema: {
        summary: 'Single logout by HTTP-Redirect (SAML 2.0)',
        tags: ['sso'],
        documented: { querystring: LogoutMessage },
        response,
      },
    },
    (request, reply) => accept(request, reply, { query: getQuery(request.originalUrl) }),
  )

  app.post(
    '/sso/saml/slo',
    {
      config: options,
      schema: {
        summary: 'Single logout by HTTP-POST (SAML 2.0)',
        tags: ['sso'],
        body: Form,
        documented: { body: LogoutMessage },
        consumes: ['application/x-www-form-urlencoded'],
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
      const accepted = await acceptLogout(app, posted, request.clientIp, new Date())
      const { url, fields, fault } = accepted
      if (fault !== undefined) return fail(app, request, reply, { thrown: fault, target: url })
      if (!fields) return reply.redirect(url, 302)
      const language = request.headers['accept-language']
      return pages.send(reply, 'continue_at_provider', { language, action: url, fields })
    } catch (thrown) {
      return fail(app, request, reply, { thrown, target: config.AUTH_SITE_URL })
    }
  }
}

function fail(
  { apiErrors }: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { thrown, target }: { thrown: unknown; target: string },
) {
  const error = apiErrors.report(request, thrown)
  return reply.redirect(redirectWithOauthError(target, error, { inFragment: false }), 303)
}

/** The raw query, as it was signed. */
function getQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

export default slo
