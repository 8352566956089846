import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { recordOauthClient, requireOwner } from '../../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import {
  auditedClient,
  changeClient,
  deleteClient,
  getClient,
  lockAndGetClient,
  readClientId,
  requireIdTokenAlgorithm,
  showClient,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { OauthClient, OauthClientChange, OauthClientPath } from '../../../schemas/oauth/client.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const path = '/admin/oauth/clients/:client_id'

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

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, (request) =>
    getClient(db, readClientId(request.params.client_id)).then(showClient),
  )

  app.put(
    path,
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
    path,
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

export default client
