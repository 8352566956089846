import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAdminActionOnUser } from '../../../../modules/audit/index.ts'
import {
  findClientRowId,
  listGrants,
  revokeGrantByAdmin,
} from '../../../../modules/oauth-server/index.ts'
import { lockUserById } from '../../../../modules/users/index.ts'
import { UserPath } from '../../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { oauthConsentNotFound } from '../../../../schemas/errors.ts'
import { readUuid } from '../../../../schemas/fields.ts'
import { OauthGrant } from '../../../../schemas/oauth/authorization.ts'
import { NoBody } from '../../../../schemas/values/empty.ts'

const grants: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, events } = fastify

  fastify.get(
    '/admin/users/:user_id/grants',
    {
      schema: {
        summary: 'List the applications a user granted access, newest first',
        tags: ['admin'],
        params: UserPath,
        response: { 200: Type.Array(OauthGrant), ...ErrorResponses },
      },
    },
    async ({ params }) => listGrants(db, readUuid('user_id', params.user_id)),
  )

  fastify.delete(
    '/admin/users/:user_id/grants/:client_id',
    {
      schema: {
        summary: 'Revoke a grant of a user and the sessions of its application',
        tags: ['admin'],
        params: Type.Object({ ...UserPath.properties, client_id: Type.String() }),
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const clientId = await findClientRowId(db, request.params.client_id)
      if (!clientId) throw oauthConsentNotFound()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, id)
        await revokeGrantByAdmin({ events }, trx, user, clientId, now)
        const traits = { now, oauth_client_id: clientId, action: 'revoke_oauth_grant' }
        await recordAdminActionOnUser(audit, trx, 'token_revoked', request, user, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default grants
