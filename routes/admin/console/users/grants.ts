import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAdminActionOnUser } from '../../../../modules/audit/index.ts'
import {
  findClient,
  listGrants,
  revokeGrantByAdmin,
} from '../../../../modules/oauth-server/index.ts'
import { lockUserById } from '../../../../modules/users/index.ts'
import { UserPath } from '../../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { oauthConsentNotFound } from '../../../../schemas/errors.ts'
import { isUuid, readUuid } from '../../../../schemas/fields.ts'
import { OauthGrant } from '../../../../schemas/oauth/authorization.ts'
import { NoBody } from '../../../../schemas/values/empty.ts'

const grants: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db, events, httpClient, jwt, log } = fastify

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
      const clientId = await rowOf(request.params.client_id, now)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await lockUserById(trx, id)
        await revokeGrantByAdmin({ events }, trx, user, clientId, now)
        const traits = { now, oauth_client_id: clientId, action: 'revoke_oauth_grant' }
        await recordAdminActionOnUser(audit, trx, 'token_revoked', request, user, traits)
      })
      return reply.status(204).send(null)
    },
  )

  /** The row of a client, named by a UUID or a document URL. */
  async function rowOf(clientId: string, now: Date): Promise<string> {
    if (isUuid(clientId)) return clientId.toLowerCase()
    const client = await findClient({ config, db, httpClient, jwt, log }, clientId, now)
    if (!client) throw oauthConsentNotFound()
    return client.id
  }
}

export default grants
