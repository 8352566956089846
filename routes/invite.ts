import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { ErrorResponses } from '../schemas/error.ts'
import { Metadata, normalizeEmail, RedirectQuery } from '../schemas/fields.ts'
import { toUser, User } from '../schemas/user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
})

const invite: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, config, db, invitations, links } = fastify

  fastify.post(
    '/invite',
    {
      onRequest: fastify.requireInviter,
      schema: {
        summary: 'Invite somebody by mail',
        description: 'Makes an account without a password; the link in the mail signs them in.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { email, data = {} } = request.body
      const address = normalizeEmail(email ?? '')
      const contact = { provider: 'email' as const, address }
      const person = { contact, aud: config.AUTH_JWT_AUD, passwordHash: null, data }
      const context = links.contextOf(request, {})

      return db.transaction().execute(async (trx) => {
        const invited = await invitations.send(trx, person, context, now)
        await adminTrail.record(trx, 'user_invited', request, invited, { now })
        return toUser(invited)
      })
    },
  )
}

export default invite
