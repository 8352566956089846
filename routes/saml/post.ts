import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { bindRelayState, isBoundTo } from '../../db/saml/relay-states.ts'
import {
  createStateValue,
  readBrowserHash,
  redirectWithOauthError,
  stateCookie,
} from '../../modules/flows/index.ts'
import { pagesTargetIn } from '../../modules/page-session/index.ts'
import {
  findOpenRequest,
  otherBrowser,
  redirectTarget,
  sendOpenRequest,
} from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { samlRelayStateNotFound } from '../../schemas/errors.ts'
import { HtmlPage } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Query = Type.Object({
  id: Type.Optional(Type.String({ description: 'RelayState of the request' })),
})

const post: FastifyPluginAsyncTypebox = async (app) => {
  const { apiErrors, config, db, pages, rateLimits } = app

  app.get(
    '/sso/saml/post',
    {
      config: { rateLimit: rateLimits.sso },
      schema: {
        summary: 'Page that sends a request to an identity provider',
        description:
          'For a provider without HTTP-Redirect, and with AUTH_EXTERNAL_BIND_BROWSER=always, which sets a cookie.',
        tags: ['sso'],
        querystring: Query,
        response: { 200: HtmlPage, 302: NoBody, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      let target = config.AUTH_SITE_URL
      try {
        const open = await findOpenRequest(app, request.query.id ?? '')
        if (!open) {
          target = pagesTargetIn(app, request) ?? target
          throw samlRelayStateNotFound()
        }
        if ('relay' in open) {
          target = redirectTarget(app, open.relay.redirect_to ?? undefined)
          await bindBrowser(request, reply, open.relay.id)
        } else target = open.logout.redirect_to
        const { url, fields } = await sendOpenRequest(app, open, new Date())
        if (!fields) return reply.redirect(url, 302)
        const language = request.headers['accept-language']
        return pages.send(reply, 'continue_at_provider', { language, action: url, fields })
      } catch (thrown) {
        const error = apiErrors.report(request, thrown)
        return reply.redirect(redirectWithOauthError(target, error, { inFragment: false }), 303)
      }
    },
  )

  /**
   * Binds the sign-in to the first browser that opens it, if browsers are bound. The request is not sent to another one:
   * a response to it could be posted there. Throws bad_oauth_state.
   */
  async function bindBrowser(request: FastifyRequest, reply: FastifyReply, id: string) {
    const made = createStateValue(app, {})
    if (!made) return
    reply.header('cache-control', 'no-store')
    if (await bindRelayState(db, id, made.hash)) {
      reply.header('set-cookie', stateCookie(app, { id, provider: 'saml' }, made.value))
    } else if (!(await isBoundTo(db, id, readBrowserHash(app, request, id)))) {
      throw otherBrowser()
    }
  }
}

export default post
