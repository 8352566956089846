/** Sign-on by SAML (Web Browser SSO Profile): the request to the identity provider, and its response. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { bindRelayState, isBoundTo } from '../../db/saml/relay-states.ts'
import { nilUuid } from '../../db/tables/users.ts'
import {
  clearedStateCookie,
  createStateValue,
  hasHostedPages,
  readBrowserHash,
  readLinkContext,
  readPkce,
  redirectWithCode,
  redirectWithOauthError,
  redirectWithSession,
  stateCookie,
} from '../../modules/flows/index.ts'
import { pagesTargetIn } from '../../modules/page-session/index.ts'
import {
  acceptResponse,
  consumeSignOn,
  findOpenRequest,
  isBrowserBound,
  otherBrowser,
  postPage,
  redirectTarget,
  sendOpenRequest,
  startSignOn,
} from '../../modules/saml/index.ts'
import { toTokenResponse } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { badJson, samlRelayStateNotFound, validationFailed } from '../../schemas/errors.ts'
import { CaptchaFields, isUuid, PkceFields } from '../../schemas/fields.ts'
import { HtmlPage } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const Body = Type.Object({
  provider_id: Type.Optional(Type.String({ description: 'Either this or domain' })),
  domain: Type.Optional(Type.String({ description: 'Of the email address, in any case' })),
  redirect_to: Type.Optional(Type.String({ maxLength: 8192 })),
  skip_http_redirect: Type.Optional(
    Type.Boolean({ description: 'Returns the URL instead of redirecting' }),
  ),
  ...PkceFields,
  ...CaptchaFields,
})

const Url = Type.Object({ url: Type.String({ description: 'Of the identity provider' }) })

const sso: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, rateLimits } = app

  app.post(
    '/sso',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.sso },
      schema: {
        summary: 'Sign in with a SAML identity provider',
        tags: ['sso'],
        body: Body,
        response: { 200: Url, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { body } = request
      const requested = { ...readNames(body), redirectTo: body.redirect_to }
      const pkce = readPkce(body)
      const url = await startSignOn(app, { ...requested, pkce }, new Date())
      if (body.skip_http_redirect) return { url }
      return reply.redirect(url, 303)
    },
  )
}

/** Throws validation_failed unless exactly one is given. */
function readNames({ provider_id, domain }: Static<typeof Body>) {
  const providerId = provider_id === nilUuid ? undefined : provider_id || undefined
  if (providerId !== undefined && !isUuid(providerId)) throw badJson('provider_id must be a UUID')
  if (Boolean(providerId) === Boolean(domain)) {
    throw validationFailed('Send either provider_id or domain')
  }
  return { providerId, domain: domain || undefined }
}

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

const unknown = samlRelayStateNotFound().errorCode

const Form = Type.Union([ManyQuery, Type.Null()])

const acsSchema = {
  summary: 'Assertion consumer service (SAML 2.0)',
  tags: ['sso'],
  body: Form,
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
}

const acs: FastifyPluginAsyncTypebox = async (app) => {
  const { apiErrors, config, rateLimits } = app

  app.post(
    '/sso/saml/acs',
    {
      config: { rateLimit: rateLimits.samlAssertion, signIn: () => 'sso/saml' },
      schema: acsSchema,
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
        if (relay) clearCookie(app, reply, relay.id)
        return reply.redirect(await accept(app, request, { SAMLResponse, relay }, target, now), 302)
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
}

/** Returns the redirect target with the session or a code. */
async function accept(
  app: FastifyInstance,
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

function clearCookie(app: FastifyInstance, reply: FastifyReply, id: string): void {
  if (!isBrowserBound(app)) return
  reply.header('set-cookie', clearedStateCookie(app, { id, provider: 'saml' }))
}

export const signOnRoutes = { sso, post, acs }
