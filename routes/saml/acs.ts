import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import {
  readLinkContext,
  redirectWithCode,
  redirectWithOauthError,
  redirectWithSession,
} from '../../modules/flows/index.ts'
import { acceptResponse, redirectTarget } from '../../modules/saml/index.ts'
import { toTokenResponse } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const Form = Type.Union([ManyQuery, Type.Null()])

const acs: FastifyPluginAsyncTypebox = async (fastify) => {
  const { apiErrors, config, flows, rateLimits, sessions } = fastify

  fastify.post(
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
      const now = new Date()
      reply.header('referrer-policy', 'no-referrer')
      try {
        return reply.redirect(await accept(request, firstValues(request.body ?? {}), now), 302)
      } catch (thrown) {
        const error = apiErrors.report(request, thrown)
        const site = redirectWithOauthError(config.AUTH_SITE_URL, error, { inFragment: false })
        return reply.redirect(site, 303)
      }
    },
  )

  /** Returns the redirect target with the session or a code. */
  async function accept(request: FastifyRequest, form: Record<string, string>, now: Date) {
    const { SAMLResponse = '', RelayState = '', SAMLart = '' } = form
    if (SAMLart !== '') throw validationFailed('The artifact binding is not supported')
    const { audience: aud, clientIp: ip, clientInfo } = request
    const context = { aud, ip, clientInfo, links: readLinkContext(flows, request, {}) }
    const outcome = await acceptResponse(fastify, { SAMLResponse, RelayState }, context, now)
    const target = redirectTarget(fastify, outcome.redirectTo)
    if (outcome.state === 'code') return redirectWithCode(target, outcome.code)
    return redirectWithSession(target, await toTokenResponse(sessions, outcome.stored, now), {})
  }
}

export default acs
