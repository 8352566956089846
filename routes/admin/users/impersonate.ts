import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser } from '../../../db/users.ts'
import { featureDisabled, userBanned, userNotFound, validationFailed } from '../../../errors.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'

const Body = Type.Union([
  Type.Object({
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'For the audit trail' })),
  }),
  Type.Null(),
])

const impersonate: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, config, db, requireAdmin, sessions } = fastify

  fastify.post(
    '/admin/users/:user_id/impersonate',
    {
      onRequest: requireAdmin,
      schema: {
        summary: 'Open a short session in the place of a person',
        description:
          'Off unless AUTH_ADMIN_IMPERSONATION_ENABLED. Access tokens carry the admin in `act` and open no admin endpoint; ' +
          'the audit trail and the devices of the person show the session.',
        tags: ['admin'],
        params: UserPath,
        body: Body,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { user_id: id } = request.params
      if (!config.AUTH_ADMIN_IMPERSONATION_ENABLED) {
        throw featureDisabled('Impersonation is disabled (AUTH_ADMIN_IMPERSONATION_ENABLED)')
      }
      if (!isUuid(id)) throw validationFailed('user_id must be an UUID', 404)
      const { client, body } = request
      const opening = {
        method: 'impersonation' as const,
        client,
        lifetimeSeconds: config.AUTH_ADMIN_IMPERSONATION_EXP,
        impersonatedBy: request.admin?.sub || request.admin?.role || 'admin',
      }
      return db.transaction().execute(async (trx) => {
        const user = await findUser(trx, id)
        if (!user || user.deleted_at) throw userNotFound()
        if (user.banned_until && user.banned_until > now) throw userBanned(403)
        const traits = { now, ...(body?.reason && { reason: body.reason }) }
        await adminTrail.record(trx, 'user_impersonated', request, user, traits)
        return sessions.issue(trx, user, opening, now)
      })
    },
  )
}

export default impersonate
