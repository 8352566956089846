/** OAuth clients, for admins of the server. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listClients } from '../../db/oauth-server/clients.ts'
import { recordOauthClient, requireOwner } from '../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../modules/audit/index.ts'
import {
  auditedClient,
  changeClient,
  createClient,
  deleteClient,
  endClientSessions,
  getClient,
  lockAndGetClient,
  readClientId,
  regenerateSecret,
  requireIdTokenAlgorithm,
  showClient,
  toClient,
} from '../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  NewOauthClient,
  OauthClient,
  OauthClientChange,
  OauthClientPath,
  OauthClients,
} from '../../schemas/oauth/client.ts'
import { PageQuery, paginationHeaders, readPage } from '../../schemas/pagination.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Query = Type.Object(PageQuery)
const clientsPath = '/admin/oauth/clients'

const listSchema = {
  summary: 'List OAuth clients, newest first',
  tags: ['admin'],
  querystring: Query,
  response: { 200: OauthClients, ...ErrorResponses },
}

const createSchema = {
  summary: 'Create an OAuth client',
  description: 'The secret of a confidential client is shown only here.',
  tags: ['admin'],
  body: NewOauthClient,
  response: { 201: OauthClient, ...ErrorResponses },
}

const clients: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    clientsPath,
    {
      config: { minimumRole: 'support' },
      schema: listSchema,
    },
    async ({ query }, reply) => {
      const page = readPage(query)
      const offset = (page.number - 1) * page.size
      const found = await listClients(db, { limit: page.size, offset })
      const hasNext = offset + found.clients.length < found.total
      const total = { count: found.total, exact: true }
      reply.headers(paginationHeaders(clientsPath, query, page, { total, hasNext }))
      return { clients: found.clients.map((row) => showClient(toClient(row))) }
    },
  )

  app.post(
    clientsPath,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: createSchema,
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

const clientPath = `${clientsPath}/:client_id`

const schema = { tags: ['admin'], params: OauthClientPath }

const response = { 200: OauthClient, ...ErrorResponses }

const readSchema = { ...schema, summary: 'Get an OAuth client', response }

const updateSchema = {
  ...schema,
  summary: 'Update an OAuth client',
  description:
    'Absent fields are unchanged. Of a client that an admin created, only owners change who receives codes and tokens: its redirect URIs, authentication method, keys and default audience. Users are asked for consent again after a change of the redirect URIs or the name.',
  body: OauthClientChange,
  response,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete an OAuth client and revoke its sessions',
  response: { 204: NoBody, ...ErrorResponses },
}

const client: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(clientPath, { config: { minimumRole: 'support' }, schema: readSchema }, (request) =>
    getClient(db, readClientId(request.params.client_id)).then(showClient),
  )

  app.put(
    clientPath,
    { config: { minimumRole: 'operator', givesAccess: true }, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const id = readClientId(request.params.client_id)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const before = await lockAndGetClient(trx, id)
        requireIdTokenAlgorithm(app, request.body, now)
        const { client: after, decisive } = await changeClient(app, trx, before, request.body, now)
        if (!before.isSelfRegistered && decisive.length > 0) {
          requireOwner(request, `Changing ${decisive.join(', ')} of this client`)
          const name = after.name ?? id
          await recordOauthClient(app, trx, { name, change: decisive.join(', ') }, now)
        }
        const changes = changedFields(auditedClient(before), auditedClient(after))
        const traits = { now, client_id: id, ...changes }
        await recordAdminAction(audit, trx, 'oauth_client_updated', request, traits)
        return showClient(after)
      })
    },
  )

  app.delete(
    clientPath,
    { config: { minimumRole: 'operator' }, schema: deleteSchema },
    async (request, reply) => {
      const now = new Date()
      const id = readClientId(request.params.client_id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const before = await lockAndGetClient(trx, id)
        await deleteClient(app, trx, before, now)
        const changes = changedFields(auditedClient(before), undefined)
        const traits = { now, client_id: id, ...changes }
        await recordAdminAction(audit, trx, 'oauth_client_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

const RegenerationBody = Type.Union([
  Type.Object({
    keep_sessions: Type.Optional(
      Type.Boolean({
        description: 'If true, sessions created with the old secret continue; for owners only',
      }),
    ),
  }),
  Type.Null(),
])

const secretRegeneration: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    `${clientPath}/regenerate_secret`,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Regenerate the secret of an OAuth client',
        description:
          'The old secret becomes invalid immediately, and the sessions of the client are revoked, because it may have leaked.',
        tags: ['admin'],
        params: OauthClientPath,
        body: RegenerationBody,
        response: { 200: OauthClient, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readClientId(request.params.client_id)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const client = await lockAndGetClient(trx, id)
        const secret = await regenerateSecret(trx, client, now)
        if (!request.body?.keep_sessions) {
          await endClientSessions(app, trx, { client_id: id }, now)
        } else if (!client.isSelfRegistered) {
          requireOwner(request, 'Keeping the sessions of this client')
          const change = 'client_secret, keep_sessions'
          await recordOauthClient(app, trx, { name: client.name ?? id, change }, now)
        }
        const traits = { now, client_id: id }
        await recordAdminAction(audit, trx, 'oauth_client_secret_regenerated', request, traits)
        return { ...showClient(client), client_secret: secret }
      })
    },
  )
}

export const clientRoutes = { clients, client, secretRegeneration }
