import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findClientRowId, listGrants, revokeGrant } from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { OauthGrant } from '../../../schemas/oauth/authorization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const GrantQuery = Type.Object({ client_id: Type.Optional(Type.String()) })
const Grants = Type.Array(OauthGrant)
const path = '/user/oauth/grants'

const grants: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    path,
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the grants of the current user, newest first',
        tags: ['oauth'],
        response: { 200: Grants, ...ErrorResponses },
      },
    },
    async (request) => listGrants(db, bearerAuth.getAuth(request).user.id),
  )

  app.delete(
    path,
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Revoke a grant and the sessions of its client',
        tags: ['oauth'],
        querystring: GrantQuery,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const clientId = await findClientRowId(db, request.query.client_id ?? '')
      if (!clientId) throw validationFailed('client_id must be the id of a client')
      await db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorize(trx, bearerAuth.getAuth(request), now)
        await revokeGrant(app, trx, user, clientId, { ip: request.clientIp, now })
      })
      return reply.status(204).send(null)
    },
  )
}

export default grants
