import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listConsentsOfClient } from '../../../db/oauth-server/consents.ts'
import { readRowCursor, toRowCursor } from '../../../schemas/console/cursor.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { OauthClientPath } from '../../../schemas/oauth/client.ts'
import { readLimit } from '../../../schemas/pagination.ts'
import { nullable } from '../../../schemas/values/choices.ts'
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

export default consents
