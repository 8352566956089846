/** Invitations of users by email, and the delivery of emails. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findMailDeliveries } from '../../../db/emails/queue.ts'
import { findUserByEmail } from '../../../db/users/users.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../../modules/emails/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import {
  callBeforeUserCreatedIfNew,
  checkMetadataSize,
  inviteUser,
  lockUserById,
} from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { Metadata, normalizeEmail, RedirectQuery, readUuid } from '../../../schemas/fields.ts'
import { MailDeliveries, toMailDelivery } from '../../../schemas/mail-delivery.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { requireUserParam } from './user-param.ts'

const InviteBody = Type.Object({
  email: Type.Optional(Type.String(needed)),
  data: Type.Optional(Metadata),
})

export const invite: FastifyPluginAsyncTypebox = async (app) => {
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
        body: InviteBody,
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

const resendInvitation: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, emails } = app

  app.post(
    '/admin/users/:user_id/resend_invitation',
    {
      config: { minimumRole: 'operator' },
      schema: {
        tags: ['admin'],
        summary: 'Resend an invitation',
        description:
          'Only while the invitation is pending. The link of the earlier email becomes invalid.',
        params: UserPath,
        querystring: RedirectQuery,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const userId = readUuid('user_id', request.params.user_id)
      const now = new Date()
      const context = readLinkContext(app, request, {})
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, userId)
        if (!user.email || !user.invited_at || user.email_confirmed_at) {
          throw validationFailed(
            'This user has no pending invitation. Invite them with POST /invite.',
          )
        }
        checkRecipient(emails.policy, user.email)
        const sent = await sendUncountedLinkEmail(app, trx, 'invite', user, context, now)
        await recordAdminActionOnUser(audit, trx, 'user_invited', request, user, { now })
        return toUser({ ...user, ...sent })
      })
    },
  )
}

const mails: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/users/:user_id/mails',
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'List the emails to a user with their delivery status, newest first',
        description: 'Sent emails are listed for 7 days, undelivered ones for 30.',
        params: UserPath,
        response: { 200: MailDeliveries, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await requireUserParam(db, readUuid('user_id', params.user_id))
      const deliveries = await findMailDeliveries(db, user.id)
      return { mails: deliveries.map(toMailDelivery) }
    },
  )
}

export const emailRoutes = { resendInvitation, mails }
