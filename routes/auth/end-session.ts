import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser } from '../../db/users/users.ts'
import { recordAudit } from '../../modules/audit/index.ts'
import {
  type LogoutTokenSession,
  revokeSession,
  verifyLogoutToken,
} from '../../modules/sessions/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { HtmlPage, PageOrError } from '../../schemas/page.ts'

const Token = Type.Object({ token: Type.Optional(Type.String(needed)) })

const response = { 200: HtmlPage, 400: PageOrError, ...ErrorResponses }

const pageSchema = {
  summary: 'Page of the link in a new sign-in notification',
  tags: ['auth'],
  querystring: Token,
  response,
}

const revokeSchema = {
  summary: 'Revoke the session of a new sign-in notification',
  description: 'Submitted by the page. Valid as long as the link.',
  tags: ['auth'],
  body: Token,
  response,
}

/**
 * The link in a new sign-in notification. Link scanners open it, so only the button of its page revokes the session.
 */
const endSession: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, db, pages, rateLimits } = app
  const config = { rateLimit: rateLimits.verify }

  app.get(
    '/sessions/end',
    {
      config,
      schema: pageSchema,
    },
    async (request, reply) => {
      const { token = '' } = request.query
      const language = request.headers['accept-language']
      if (!verifyLogoutToken(app, token, new Date())) {
        return pages.send(reply.status(400), 'bad_link', { language, end: {} })
      }
      return pages.send(reply, 'end_session', { language, fields: { token } })
    },
  )

  // Link scanners send HEAD requests.
  app.head('/sessions/end', { config }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  app.post(
    '/sessions/end',
    {
      config,
      schema: revokeSchema,
    },
    async (request, reply) => {
      const now = new Date()
      const language = request.headers['accept-language']
      const named = verifyLogoutToken(app, request.body.token ?? '', now)
      if (!named) return pages.send(reply.status(400), 'bad_link', { language, end: {} })
      await end(named, request.clientIp, now)
      return pages.send(reply, 'session_ended', { language, end: {} })
    },
  )

  /** Succeeds for a session that has already ended. */
  async function end(
    { userId, sessionId }: LogoutTokenSession,
    ip: string,
    now: Date,
  ): Promise<void> {
    await db.transaction().execute(async (trx) => {
      if (!(await revokeSession(app, trx, userId, sessionId, now))) return
      const user = await findUser(trx, userId)
      const traits = { session_id: sessionId, reason: 'link of a mail' }
      if (user) await recordAudit(audit, trx, 'logout', user, { ip, now, traits })
    })
  }
}

export default endSession
