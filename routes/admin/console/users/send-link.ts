import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { isBanned, type UserRecord } from '../../../../db/users/users.ts'
import { type AuditAction, recordAdminActionOnUser } from '../../../../modules/audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../../../modules/emails/index.ts'
import { readLinkContext } from '../../../../modules/flows/index.ts'
import { lockUserById } from '../../../../modules/users/index.ts'
import { UserPath } from '../../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { userBanned, validationFailed } from '../../../../schemas/errors.ts'
import { readUuid } from '../../../../schemas/fields.ts'
import { StringEnum } from '../../../../schemas/values/choices.ts'
import { EmptyObject } from '../../../../schemas/values/empty.ts'

const types = ['confirmation', 'magiclink', 'recovery', 'invite'] as const
type LinkType = (typeof types)[number]

const kinds = {
  confirmation: 'confirmation',
  magiclink: 'magic_link',
  recovery: 'recovery',
  invite: 'invite',
} as const satisfies Record<LinkType, string>

const actions: Record<LinkType, AuditAction> = {
  confirmation: 'user_confirmation_requested',
  magiclink: 'user_recovery_requested',
  recovery: 'user_recovery_requested',
  invite: 'user_invited',
}

const Body = Type.Object({
  type: StringEnum(types),
  redirect_to: Type.Optional(Type.String()),
})

const sendLink: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, emails } = app

  app.post(
    '/admin/users/:user_id/send_link',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Email a link to a user',
        description: 'Not rate limited. The link replaces an earlier one of the same type.',
        tags: ['admin'],
        params: UserPath,
        body: Body,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const { type, redirect_to } = request.body
      const context = readLinkContext(app, request, {}, redirect_to)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, id)
        checkRecipient(emails.policy, checkedAddress(user, type, now))
        await sendUncountedLinkEmail(app, trx, kinds[type], user, context, now)
        await recordAdminActionOnUser(audit, trx, actions[type], request, user, {
          now,
          link_type: type,
        })
      })
      return {}
    },
  )
}

/** Throws validation_failed when such a link would have no effect for the user, and user_banned. */
function checkedAddress(user: UserRecord, type: LinkType, now: Date): string {
  if (!user.email || user.deleted_at) throw validationFailed('This user has no email address')
  if (isBanned(user, now)) throw userBanned(403)
  const isConfirmed = user.email_confirmed_at !== null
  const needsUnconfirmed = type === 'confirmation' || type === 'invite'
  if (needsUnconfirmed === isConfirmed) {
    throw validationFailed(
      isConfirmed
        ? 'The address of this user is already confirmed: send a magiclink or recovery link'
        : 'The address of this user is not confirmed yet: send a confirmation or an invitation',
    )
  }
  return user.email
}

export default sendLink
