import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

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
      ...{ ...needed, ...choices('signup', 'invite', 'recovery', 'magiclink', 'email_change') },
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

const verify: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, pages, rateLimits } = fastify
  const verifyCode = codeVerification(fastify)
  const links = linkOpening(fastify)
  const policy = { rateLimit: rateLimits.verify, signIn: () => 'otp' }

  fastify.get(
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
      const link = links.read(request, request.query)
      if (config.AUTH_MAILER_LINK_CONFIRMATION || isPrefetch(request)) {
        return showConfirmation(request, reply, link)
      }
      return leave(reply, await links.open(request, link, new Date()))
    },
  )

  // Link scanners send HEAD requests. Nothing is read or consumed.
  fastify.head('/verify', { config: policy }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  fastify.post('/verify', { config: policy, schema: codeSchema }, async (request, reply) => {
    const { body } = request
    if (!body.open_link) return verifyCode(body, request, new Date())
    return leave(reply, await links.open(request, links.read(request, body), new Date()))
  })

  /** Shows a confirmation button before the link takes effect, unless the link is invalid. */
  async function showConfirmation(
    request: FastifyRequest,
    reply: FastifyReply,
    link: EmailLinkRequest,
  ) {
    const errorTarget = await links.findLinkError(request, link, new Date())
    if (errorTarget) return leave(reply, errorTarget)
    const { token, type, target } = link
    const fields = { open_link: '1', token, type, redirect_to: target }
    const language = request.headers['accept-language']
    return pages.send(reply, isLinkType(type) ? type : 'magiclink', { language, fields })
  }
}

/** Types of links with their own page text. */
function isLinkType(type: string): type is 'signup' | 'invite' | 'recovery' | 'email_change' {
  return ['signup', 'invite', 'recovery', 'email_change'].includes(type)
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
