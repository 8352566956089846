/** The access that users granted to OAuth clients: by client, and by user. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listConsentsOfClient } from '../../../db/oauth-server/consents.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import {
  findClientRowId,
  listGrants,
  revokeGrantByAdmin,
} from '../../../modules/oauth-server/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { readRowCursor, toRowCursor } from '../../../schemas/console/cursor.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { oauthConsentNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { OauthGrant } from '../../../schemas/oauth/authorization.ts'
import { OauthClientPath } from '../../../schemas/oauth/client.ts'
import { readLimit } from '../../../schemas/pagination.ts'
import { nullable } from '../../../schemas/values/choices.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { Timestamp } from '../../../schemas/values/timestamp.ts'

const Consents = Type.Object({
  consents: Type.Array(
    Type.Object({
      user_id: Type.String({ format: 'uuid' }),
      email: nullable(Type.String()),
      scopes: Type.Array(Type.String()),
      granted_at: Timestamp,
    }),
  ),
  next_cursor: nullable(Type.String()),
})

const Query = Type.Object({
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous response' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

const consents: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/oauth/clients/:client_id/consents',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the users who granted an OAuth client access, newest first',
        tags: ['admin'],
        params: OauthClientPath,
        querystring: Query,
        response: { 200: Consents, ...ErrorResponses },
      },
    },
    async ({ params, query }) => {
      const clientId = readUuid('client_id', params.client_id)
      const size = readLimit(query.limit)
      const rows = await listConsentsOfClient(db, clientId, readRowCursor(query.cursor), size)
      const page = rows.slice(0, size)
      const last = rows.length > size ? page.at(-1) : undefined
      return {
        consents: page.map(({ user_id, email, scopes, granted_at }) => ({
          user_id,
          email,
          scopes: scopes.split(' ').filter(Boolean),
          granted_at: granted_at.toISOString(),
        })),
        next_cursor: last ? toRowCursor({ microseconds: last.place, id: last.id }) : null,
      }
    },
  )
}

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

export const grantRoutes = { consents, grants }
