import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listClients } from '../../../db/oauth-server/clients.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import {
  auditedClient,
  createClient,
  requireIdTokenAlgorithm,
  showClient,
  toClient,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { NewOauthClient, OauthClient, OauthClients } from '../../../schemas/oauth/client.ts'
import { PageQuery, paginationHeaders, readPage } from '../../../schemas/pagination.ts'

const Query = Type.Object(PageQuery)
const path = '/admin/oauth/clients'

const clients: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List OAuth clients, newest first',
        tags: ['admin'],
        querystring: Query,
        response: { 200: OauthClients, ...ErrorResponses },
      },
    },
    async ({ query }, reply) => {
      const page = readPage(query)
      const offset = (page.number - 1) * page.size
      const found = await listClients(db, { limit: page.size, offset })
      const hasNext = offset + found.clients.length < found.total
      const total = { count: found.total, exact: true }
      reply.headers(paginationHeaders(path, query, page, { total, hasNext }))
      return { clients: found.clients.map((row) => showClient(toClient(row))) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Create an OAuth client',
        description: 'The secret of a confidential client is shown only here.',
        tags: ['admin'],
        body: NewOauthClient,
        response: { 201: OauthClient, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        requireIdTokenAlgorithm(app, request.body, now)
        const made = await createClient(app, trx, request.body, 'manual', now)
        const after = auditedClient(made.client)
        const traits = { client_id: made.client.id, ...changedFields(undefined, after) }
        await recordAdminAction(audit, trx, 'oauth_client_created', request, { now, ...traits })
        return made
      })
      const { client, secret } = created
      reply.status(201)
      return { ...showClient(client), ...(secret && { client_secret: secret }) }
    },
  )
}

export default clients
