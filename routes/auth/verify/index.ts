import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Page } from '../../../schemas/page.ts'
import { firstValues } from '../../../schemas/query.ts'
import { Session } from '../../../schemas/session.ts'
import { HalfDone, VerifyBody } from '../../../schemas/verify.ts'
import { codeVerification } from './code.ts'
import { type Link, linkOpening } from './link.ts'

/** The link of a mail. */
const Query = Type.Object({
  token: Type.Optional(Type.String()),
  token_hash: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  redirect_to: Type.Optional(Type.String()),
})

const Verified = Type.Union([Session, HalfDone])

const verify: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, pages, rateLimits } = fastify
  const verifyCode = codeVerification(fastify)
  const links = linkOpening(fastify)
  const policy = { rateLimit: rateLimits.verify, signIn: () => 'otp' }

  fastify.get(
    '/verify',
    {
      // Templates add parameters of their own to the link.
      preValidation: async (request) => {
        request.query = firstValues(request.query)
      },
      config: policy,
      schema: {
        summary: 'Open the link of a mail: signs the person in and sends them to the site',
        tags: ['auth'],
        querystring: Query,
        response: { 200: Page, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const link = links.read(request, request.query)
      if (config.AUTH_MAILER_LINK_CONFIRMATION || isPrefetch(request)) {
        return askFirst(request, reply, link)
      }
      return leave(reply, await links.open(request, link, new Date()))
    },
  )

  // What scanners send to see whether there is a page. Nothing is read and nothing is spent.
  fastify.head('/verify', { config: policy }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  fastify.post(
    '/verify',
    {
      config: policy,
      schema: {
        summary: 'Exchange a one-time code or the token of a link for a session',
        tags: ['auth'],
        body: VerifyBody,
        response: { 200: Verified, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { body } = request
      if (!body.open_link) return verifyCode(body, request, new Date())
      return leave(reply, await links.open(request, links.read(request, body), new Date()))
    },
  )

  /** A button between the link and its effect; not even that for a link that is dead. */
  async function askFirst(request: FastifyRequest, reply: FastifyReply, link: Link) {
    const deadEnd = await links.deadEnd(request, link, new Date())
    if (deadEnd) return leave(reply, deadEnd)
    const { token, type, target } = link
    const fields = { open_link: '1', token, type, redirect_to: target }
    const language = request.headers['accept-language']
    return pages.send(reply, isLinkType(type) ? type : 'magiclink', { language, fields })
  }
}

/** The types of links that have a page of their own words. */
function isLinkType(type: string): type is 'signup' | 'invite' | 'recovery' | 'email_change' {
  return ['signup', 'invite', 'recovery', 'email_change'].includes(type)
}

/** The address holds a token or a code, so no page it leads to may pass it on. */
function leave(reply: FastifyReply, location: string) {
  return reply.header('referrer-policy', 'no-referrer').redirect(location, 303)
}

/** A browser that loads a page before anybody asked for it says so (Fetch standard, Sec-Purpose). */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']]
  return purposes.some((purpose) => /prefetch|prerender|preview/i.test(String(purpose ?? '')))
}

export default verify
