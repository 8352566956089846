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

const GrantPath = Type.Object({ ...UserPath.properties, client_id: Type.String() })
const Grants = Type.Array(OauthGrant)
const grants: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    '/admin/users/:user_id/grants',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the applications a user granted access, newest first',
        tags: ['admin'],
        params: UserPath,
        response: { 200: Grants, ...ErrorResponses },
      },
    },
    async ({ params }) => listGrants(db, readUuid('user_id', params.user_id)),
  )

  app.delete(
    '/admin/users/:user_id/grants/:client_id',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Revoke a grant of a user and the sessions of its application',
        tags: ['admin'],
        params: GrantPath,
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
        await revokeGrantByAdmin(app, trx, user, clientId, now)
        const traits = { now, oauth_client_id: clientId, action: 'revoke_oauth_grant' }
        await recordAdminActionOnUser(audit, trx, 'token_revoked', request, user, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default grants
