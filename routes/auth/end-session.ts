import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser } from '../../db/users.ts'
import type { EndableSession } from '../../plugins/accounts/sessions/end-link.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { Page, PageOrError } from '../../schemas/page.ts'

const Token = Type.Object({ token: Type.Optional(Type.String()) })

/** The link in the mail that tells of a sign-in. Scanners open links, so that only its button ends the session. */
const endSession: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, db, pages, rateLimits, sessions } = fastify
  const config = { rateLimit: rateLimits.verify }
  const response = { 200: Page, 400: PageOrError, ...ErrorResponses }

  fastify.get(
    '/sessions/end',
    {
      config,
      schema: {
        summary: 'The page behind the link of a mail that tells of a sign-in: one button',
        tags: ['auth'],
        querystring: Token,
        response,
      },
    },
    async (request, reply) => {
      const { token = '' } = request.query
      const language = request.headers['accept-language']
      if (!sessions.readEndToken(token, new Date())) {
        return pages.send(reply.status(400), 'bad_link', { language })
      }
      return pages.send(reply, 'end_session', { language, fields: { token } })
    },
  )

  // What scanners send to see whether there is a page.
  fastify.head('/sessions/end', { config }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  fastify.post(
    '/sessions/end',
    {
      config,
      schema: {
        summary: 'End the session that the mail tells of',
        description: 'What the button of the page sends. Works as long as the link does.',
        tags: ['auth'],
        body: Token,
        response,
      },
    },
    async (request, reply) => {
      const now = new Date()
      const language = request.headers['accept-language']
      const named = sessions.readEndToken(request.body.token ?? '', now)
      if (!named) return pages.send(reply.status(400), 'bad_link', { language })
      await end(named, request.clientIp, now)
      return pages.send(reply, 'session_ended', { language })
    },
  )

  /** A session that is over already has ended, too. */
  async function end({ userId, sessionId }: EndableSession, ip: string, now: Date): Promise<void> {
    await db.transaction().execute(async (trx) => {
      if (!(await sessions.end(trx, userId, sessionId, now))) return
      const user = await findUser(trx, userId)
      const traits = { session_id: sessionId, reason: 'link of a mail' }
      if (user) await audit.record(trx, 'logout', user, { ip, now, traits })
    })
  }
}

export default endSession
