import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUserByEmail } from '../../db/users.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { Metadata, normalizeEmail, RedirectQuery } from '../../schemas/fields.ts'
import { toUser, User } from '../../schemas/user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
})

const invite: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, flows, users } = fastify

  fastify.post(
    '/invite',
    {
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
      users.checkMetadata({ user_metadata: data })
      const address = normalizeEmail(email ?? '')
      const contact = { provider: 'email' as const, address }
      const { audience: aud, clientIp: ip } = request
      const approval = await users.approveIfNew(db, { contact, aud, data }, ip)
      const person = { contact, aud, passwordHash: null, data, approval, byAdmin: true }
      const context = flows.linkContext(request, {})

      return db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const before = await findUserByEmail(trx, address, person.aud)
        const invited = await users.invite(trx, person, context, now)
        const traits = { now, ...audit.personDifference(before, invited) }
        await audit.recordAdmin(trx, 'user_invited', request, invited, traits)
        return toUser(invited)
      })
    },
  )
}

export default invite
