import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { validationFailed } from '../../../errors.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery, readUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

const resendInvitation: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, emails, flows, users } = fastify

  fastify.post(
    '/admin/users/:user_id/resend_invitation',
    {
      schema: {
        tags: ['admin'],
        summary: 'Invite somebody once more',
        description: 'Only while the invitation is open. The link of the earlier mail is void.',
        params: UserPath,
        querystring: RedirectQuery,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => {
      const userId = readUuid('user_id', request.params.user_id)
      const now = new Date()
      const context = flows.linkContext(request, {})
      return db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const person = await users.lockNamed(trx, userId)
        if (!person.email || !person.invited_at || person.email_confirmed_at) {
          throw validationFailed('This person has no open invitation. Invite them by POST /invite.')
        }
        emails.checkRecipient(person.email)
        const sent = await emails.sendUncountedLink(trx, 'invite', person, context, now)
        await audit.recordAdmin(trx, 'user_invited', request, person, { now })
        return toUser({ ...person, ...sent })
      })
    },
  )
}

export default resendInvitation
