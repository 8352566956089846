import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser, isBanned } from '../../../db/users/users.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { type AccessTokenClaims, subjectUserId } from '../../../schemas/access-token.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { featureDisabled, userBanned, userNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'

const Body = Type.Union([
  Type.Object({
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'For the audit log' })),
  }),
  Type.Null(),
])

const impersonate: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app

  app.post(
    '/admin/users/:user_id/impersonate',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Impersonate a user: create a short session',
        description:
          'Requires AUTH_ADMIN_IMPERSONATION_ENABLED. Access tokens name the admin in `act` and are rejected by admin endpoints; ' +
          'the audit log and the device list of the user show the session.',
        tags: ['admin'],
        params: UserPath,
        body: Body,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      if (!config.AUTH_ADMIN_IMPERSONATION_ENABLED) {
        throw featureDisabled('Impersonation is disabled (AUTH_ADMIN_IMPERSONATION_ENABLED)')
      }
      const id = readUuid('user_id', request.params.user_id)
      const { clientInfo, body } = request
      const authentication = {
        method: 'impersonation' as const,
        clientInfo,
        lifetimeSeconds: config.AUTH_ADMIN_IMPERSONATION_EXP,
        impersonatedBy: getAdminName(request.admin),
      }
      const opened = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await findUser(trx, id)
        if (!user || user.deleted_at) throw userNotFound()
        if (isBanned(user, now)) throw userBanned(403)
        const traits = { now, ...(body?.reason && { reason: body.reason }) }
        await recordAdminActionOnUser(audit, trx, 'user_impersonated', request, user, traits)
        return createSession(app, trx, user, authentication, now)
      })
      return toTokenResponse(app, opened, now)
    },
  )
}

/** A service token is named by its role, as in the audit log. */
function getAdminName(admin: AccessTokenClaims | null): string {
  return subjectUserId(admin) || admin?.role || 'admin'
}

export default impersonate
