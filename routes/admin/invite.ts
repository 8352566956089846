import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUserByEmail } from '../../db/users/users.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../modules/audit/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import {
  callBeforeUserCreatedIfNew,
  checkMetadataSize,
  inviteUser,
} from '../../modules/users/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { Metadata, normalizeEmail, RedirectQuery } from '../../schemas/fields.ts'
import { toUser, User } from '../../schemas/user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String(needed)),
  data: Type.Optional(Metadata),
})

const invite: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, emailValidation } = app

  app.post(
    '/invite',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Invite a user by email',
        description: 'Creates a user without a password; the link in the email signs them in.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { email, data = {} } = request.body
      checkMetadataSize(app, { user_metadata: data })
      const address = normalizeEmail(email ?? '')
      await emailValidation.check(address)
      const contact = { provider: 'email' as const, address }
      const { audience: aud, clientIp: ip } = request
      const permit = await callBeforeUserCreatedIfNew(app, db, { contact, aud, data }, ip)
      const user = { contact, aud, passwordHash: null, data, permit, byAdmin: true }
      const context = readLinkContext(app, request, {})

      return db.transaction().execute(async (trx) => {
        const subject = await findUserByEmail(trx, address, user.aud)
        await bearerAuth.reauthorizeAdmin(trx, request, now, subject)
        const before = await findUserByEmail(trx, address, user.aud)
        const invited = await inviteUser(app, trx, user, context, now)
        const traits = { now, ...changedUserFields(before, invited) }
        await recordAdminActionOnUser(audit, trx, 'user_invited', request, invited, traits)
        return toUser(invited)
      })
    },
  )
}

export default invite
