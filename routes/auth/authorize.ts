import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  createStateValue,
  readLinkContext,
  redirectWithOauthError,
  startAuthorization,
  stateCookie,
} from '../../modules/flows/index.ts'
import { isPagesCallback, returnCookie } from '../../modules/page-session/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { AuthorizeQuery } from '../../schemas/external.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const authorize: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  app.get(
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
      const context = readLinkContext(app, request, query)
      const bound = createStateValue(app, query)
      const authorization = { query, context, browserHash: bound?.hash }
      reply.header('referrer-policy', 'no-referrer')
      try {
        const { url, ...flow } = await startAuthorization(app, authorization, new Date())
        if (bound) reply.header('set-cookie', stateCookie(app, flow, bound.value))
        if (isPagesCallback(app, context.redirectTo)) {
          reply.header('set-cookie', returnCookie(app, context.redirectTo))
        }
        return reply.redirect(url, 302)
      } catch (thrown) {
        return returnToPages(app, request, reply, { target: context.redirectTo, thrown })
      }
    },
  )
}

/** The hosted pages show the error and other ways to sign in. Rethrows it for any other client. */
function returnToPages(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { target, thrown }: { target: string; thrown: unknown },
) {
  if (!isPagesCallback(app, target)) throw thrown
  const error = app.apiErrors.report(request, thrown)
  return reply.redirect(redirectWithOauthError(target, error, { inFragment: false }), 302)
}

export default authorize
