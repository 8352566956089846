import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { answerOnce, ensureCookie, formToken } from '../../../modules/page-session/index.ts'
import type { Exchange } from '../../../modules/pages/index.ts'
import { choices, needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { HtmlPage } from '../../../schemas/page.ts'
import { Session } from '../../../schemas/session.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { firstValues } from '../../../schemas/values/query.ts'
import { PartialVerification, VerifyBody } from '../../../schemas/verify.ts'
import { codeVerification } from './code.ts'
import { type EmailLinkRequest, linkOpening } from './link.ts'

/** An email link. */
const Query = Type.Object({
  token: Type.Optional(Type.String()),
  token_hash: Type.Optional(Type.String()),
  type: Type.Optional(
    Type.String({
      ...needed,
      ...choices('signup', 'invite', 'recovery', 'magiclink', 'email_change'),
    }),
  ),
  redirect_to: Type.Optional(Type.String()),
})

const Verified = Type.Union([Session, PartialVerification])

const linkSchema = {
  summary: 'Verify an email link: creates a session and redirects to the site',
  tags: ['auth'],
  querystring: Query,
  response: { 200: HtmlPage, 303: NoBody, ...ErrorResponses },
}

const codeSchema = {
  summary: 'Verify a one-time code or token hash: creates a session',
  tags: ['auth'],
  body: VerifyBody,
  response: { 200: Verified, 303: NoBody, ...ErrorResponses },
}

const verify: FastifyPluginAsyncTypebox = async (app) => {
  const { config, pages, rateLimits } = app
  const verifyCode = codeVerification(app)
  const links = linkOpening(app)
  const { link: once } = answerOnce(app)
  const policy = { rateLimit: rateLimits.verify, signIn: () => 'otp' }

  app.get(
    '/verify',
    {
      // Templates may add parameters to the link.
      preValidation: async (request) => {
        request.query = firstValues(request.query)
      },
      config: policy,
      schema: linkSchema,
    },
    async (request, reply) => {
      const exchange = { request, reply }
      const link = links.read(request, request.query)
      if (config.AUTH_MAILER_LINK_CONFIRMATION || isPrefetch(request)) {
        const errorTarget = await links.findLinkError(request, link, new Date())
        return errorTarget ? leave(reply, errorTarget) : showConfirmation(app, exchange, link)
      }
      return leave(reply, await links.open(request, link, new Date()))
    },
  )

  // Link scanners send HEAD requests. Nothing is read or consumed.
  app.head('/verify', { config: policy }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  app.post('/verify', { config: policy, schema: codeSchema, ...once }, async (request, reply) => {
    const { body } = request
    if (!body.open_link) return verifyCode(body, request, new Date())
    return leave(reply, await links.open(request, links.read(request, body), new Date()))
  })
}

/** The URL has a token or code, which must not be sent as a Referer. */
function leave(reply: FastifyReply, location: string) {
  return reply.header('referrer-policy', 'no-referrer').redirect(location, 303)
}

/** Browsers mark prefetches (Fetch standard, Sec-Purpose). */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']]
  return purposes.some((purpose) => /prefetch|prerender|preview/i.test(String(purpose ?? '')))
}

export default verify

/** Shows the button that makes an email link take effect. Its form is answered once, for the browser of the cookie. */
function showConfirmation(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { token, type, target }: EmailLinkRequest,
): FastifyReply {
  const form_token = formToken(app, ensureCookie(app, request, reply))
  const fields = { open_link: '1', form_token, token, type, redirect_to: target }
  const language = request.headers['accept-language']
  return app.pages.send(reply, isLinkType(type) ? type : 'magiclink', { language, fields })
}

/** Types of links with their own page text. */
function isLinkType(type: string): type is 'signup' | 'invite' | 'recovery' | 'email_change' {
  return ['signup', 'invite', 'recovery', 'email_change'].includes(type)
}
