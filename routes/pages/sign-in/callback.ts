import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  answerOnce,
  browserId,
  findSignedIn,
  verifierFor,
} from '../../../modules/page-session/index.ts'
import {
  type ApiResponse,
  callApi,
  type Exchange,
  findReason,
  type Reason,
  readNext,
  redirectToRetry,
  sendToNext,
  textIn,
} from '../../../modules/pages/index.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { finishSignIn, isSession } from './finish.ts'

const Query = Type.Object({
  next: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  /** `change` for a change of the account page. */
  purpose: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_code: Type.Optional(Type.String()),
})

/** The redirect target of email links and providers: the code is valid in the requesting browser only. */
const callback: FastifyPluginAsyncTypebox = async (app) => {
  const { visit } = answerOnce(app)

  app.get(
    '/sign-in/callback',
    {
      onSend: visit.onSend,
      // A code is used once, and a browser may load a page again.
      preHandler: async (request, reply) => {
        if (request.query.code) return visit.preHandler(request, reply)
      },
      schema: {
        summary: 'Redirect target of links and providers for the pages',
        tags: ['pages'],
        querystring: Query,
        response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
      },
    },
    async (request, reply) => {
      const { query } = request
      const next = readNext(query.next)
      const { response, reason } = await complete(app, request, query)
      if (query.purpose === 'change' && next !== '') {
        return finishChange(app, { request, reply }, { next, query, response, reason })
      }
      if (response) return finishSignIn(app, request, reply, response, next)
      if (reason) return redirectToRetry(app, reply, next, reason)
      return sendToNext(app, request, reply, next)
    },
  )
}

/** The session, or why there is none. Neither for a visit without a code and an error. */
async function complete(
  app: FastifyInstance,
  request: FastifyRequest,
  query: Static<typeof Query>,
): Promise<{ response?: ApiResponse; reason?: Reason }> {
  const { code, error } = query
  if (!code) return error ? { reason: findReason(query) } : {}
  const cookie = browserId(app, request)
  if (!cookie) return { reason: 'opened_elsewhere' }
  const payload = { auth_code: code, code_verifier: verifierFor(app, cookie) }
  const response = await callApi(app, request, {
    url: '/token',
    query: { grant_type: 'pkce' },
    payload,
  })
  if (isSession(response)) return { response }
  return { reason: findReason({ error_code: textIn(response, 'error_code') }) }
}

export default callback

// Completes a change of the account page by a link or an external provider.

interface Returned {
  /** The page of the change. */
  next: string
  query: { message?: string; code?: string; error_code?: string }
  response: ApiResponse | undefined
  reason: Reason | undefined
}

/**
 * The change is complete when the link returns with a code. A user who is signed in keeps the session with its second
 * factor. In another browser than the one that requested the link, the code has no effect and the user signs in.
 */
async function finishChange(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { next, query: { message, code, error_code: errorCode }, response, reason }: Returned,
): Promise<FastifyReply> {
  const page = `${app.config.AUTH_API_EXTERNAL_URL}${next}`
  // One of two addresses is confirmed.
  if (message) return reply.redirect(`${page}?done=email_half`, 303)
  const current = await findSignedIn(app, request, new Date())
  if (!response) {
    if (code || !reason) return reply.redirect(page, 303)
    if (!current) return redirectToRetry(app, reply, next, reason)
    const failed = new URLSearchParams({ failed: (reason === 'failed' && errorCode) || reason })
    return reply.redirect(`${page}?${failed}`, 303)
  }
  const token = textIn(response, 'access_token') ?? ''
  const claims = await app.jwt.verify(token)
  if (current?.session.id !== claims.sub) return finishSignIn(app, request, reply, response, next)
  await callApi(app, request, { url: '/logout', query: { scope: 'local' }, token })
  return reply.redirect(`${page}?done=saved`, 303)
}
