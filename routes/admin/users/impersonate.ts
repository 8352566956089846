import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser, isBanned } from '../../../db/users.ts'
import { featureDisabled, userBanned, userNotFound } from '../../../errors.ts'
import { type AccessTokenClaims, personIn } from '../../../schemas/access-token.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'

const Body = Type.Union([
  Type.Object({
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'For the audit trail' })),
  }),
  Type.Null(),
])

const impersonate: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db, sessions } = fastify

  fastify.post(
    '/admin/users/:user_id/impersonate',
    {
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
      if (!config.AUTH_ADMIN_IMPERSONATION_ENABLED) {
        throw featureDisabled('Impersonation is disabled (AUTH_ADMIN_IMPERSONATION_ENABLED)')
      }
      const id = readUuid('user_id', request.params.user_id)
      const { client, body } = request
      const proof = {
        method: 'impersonation' as const,
        client,
        lifetimeSeconds: config.AUTH_ADMIN_IMPERSONATION_EXP,
        impersonatedBy: nameOf(request.admin),
      }
      const opened = await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await findUser(trx, id)
        if (!user || user.deleted_at) throw userNotFound()
        if (isBanned(user, now)) throw userBanned(403)
        const traits = { now, ...(body?.reason && { reason: body.reason }) }
        await audit.recordAdmin(trx, 'user_impersonated', request, user, traits)
        return sessions.open(trx, user, proof, now)
      })
      return sessions.answer(opened, now)
    },
  )
}

/** A service without an account is named by its role, as in the audit trail. */
function nameOf(admin: AccessTokenClaims | null): string {
  return (admin && personIn(admin)) || admin?.role || 'admin'
}

export default impersonate
