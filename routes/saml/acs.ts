import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import {
  clearedStateCookie,
  hasHostedPages,
  readBrowserHash,
  readLinkContext,
  redirectWithCode,
  redirectWithOauthError,
  redirectWithSession,
} from '../../modules/flows/index.ts'
import {
  acceptResponse,
  consumeSignOn,
  isBrowserBound,
  postPage,
  redirectTarget,
} from '../../modules/saml/index.ts'
import { toTokenResponse } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { samlRelayStateNotFound, validationFailed } from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const unknown = samlRelayStateNotFound().errorCode

const Form = Type.Union([ManyQuery, Type.Null()])

const acs: FastifyPluginAsyncTypebox = async (app) => {
  const { apiErrors, config, rateLimits } = app

  app.post(
    '/sso/saml/acs',
    {
      config: { rateLimit: rateLimits.samlAssertion, signIn: () => 'sso/saml' },
      schema: {
        summary: 'Assertion consumer service (SAML 2.0)',
        tags: ['sso'],
        body: Form,
        response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { RelayState = '', SAMLResponse = '', SAMLart = '' } = firstValues(request.body ?? {})
      const now = new Date()
      reply.header('referrer-policy', 'no-referrer')
      let target = config.AUTH_SITE_URL
      try {
        const browserHash = readBrowserHash(app, request, RelayState)
        const signOn = await consumeSignOn(app, RelayState, browserHash, now)
        target = redirectTarget(app, signOn.redirectTo)
        if (signOn.fault) throw signOn.fault
        if (SAMLart !== '') throw validationFailed('The artifact binding is not supported')
        const { relay } = signOn
        if (relay) clearCookie(reply, relay.id)
        return reply.redirect(await accept(request, { SAMLResponse, relay }, target, now), 302)
      } catch (thrown) {
        const error = apiErrors.report(request, thrown)
        // Browsers send no cookies with a form of another site, but with a redirect: the page knows where it began.
        if (error.errorCode === unknown && hasHostedPages(app)) {
          return reply.redirect(postPage(app, RelayState), 303)
        }
        return reply.redirect(redirectWithOauthError(target, error, { inFragment: false }), 303)
      }
    },
  )

  /** Returns the redirect target with the session or a code. */
  async function accept(
    request: FastifyRequest,
    posted: Parameters<typeof acceptResponse>[1],
    target: string,
    now: Date,
  ): Promise<string> {
    const { audience: aud, clientIp: ip, clientInfo } = request
    const context = { aud, ip, clientInfo, links: readLinkContext(app, request, {}) }
    const outcome = await acceptResponse(app, posted, context, now)
    if (outcome.state === 'code') return redirectWithCode(target, outcome.code)
    return redirectWithSession(target, await toTokenResponse(app, outcome.stored, now), {})
  }

  function clearCookie(reply: FastifyReply, id: string): void {
    if (!isBrowserBound(app)) return
    reply.header('set-cookie', clearedStateCookie(app, { id, provider: 'saml' }))
  }
}

export default acs
