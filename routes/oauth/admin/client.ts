import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import {
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
  description: 'Absent fields are unchanged.',
  body: OauthClientChange,
  response,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete an OAuth client and revoke its sessions',
  response: { 204: NoBody, ...ErrorResponses },
}

const client: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db, events, jwt } = fastify

  fastify.get(path, { schema: readSchema }, (request) =>
    getClient(db, readClientId(request.params.client_id)).then(showClient),
  )

  fastify.put(path, { schema: updateSchema }, async (request) => {
    const now = new Date()
    const id = readClientId(request.params.client_id)
    return db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const before = await lockAndGetClient(trx, id)
      requireIdTokenAlgorithm({ jwt }, request.body, now)
      const after = await changeClient({ config }, trx, before, request.body, now)
      const changes = changedFields({ ...showClient(before) }, { ...showClient(after) })
      const traits = { now, client_id: id, ...changes }
      await recordAdminAction(audit, trx, 'oauth_client_updated', request, traits)
      return showClient(after)
    })
  })

  fastify.delete(path, { schema: deleteSchema }, async (request, reply) => {
    const now = new Date()
    const id = readClientId(request.params.client_id)
    await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const before = await lockAndGetClient(trx, id)
      await deleteClient({ events }, trx, before, now)
      const changes = changedFields({ ...showClient(before) }, undefined)
      const traits = { now, client_id: id, ...changes }
      await recordAdminAction(audit, trx, 'oauth_client_deleted', request, traits)
    })
    return reply.status(204).send(null)
  })
}

export default client
