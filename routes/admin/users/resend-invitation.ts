import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../../modules/emails/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { RedirectQuery, readUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

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

export default resendInvitation
