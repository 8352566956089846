import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changeScimConnection,
  removeScimConnection,
  requireScimConnection,
} from '../../../modules/scim/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  auditedScimConnection,
  ScimConnection,
  ScimConnectionInput,
  toScimConnection,
} from '../../../schemas/scim/connection.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Path = Type.Object({ connection_id: Type.String() })

const path = '/admin/scim/connections/:connection_id'
const schema = { tags: ['admin'], params: Path }
const response = { 200: ScimConnection, ...ErrorResponses }

const connection: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const { AUTH_API_EXTERNAL_URL: external } = config

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: { ...schema, summary: 'Get a SCIM connection', response },
    },
    async ({ params }) =>
      toScimConnection(await requireScimConnection(db, params.connection_id), external),
  )

  app.put(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        ...schema,
        summary: 'Update a SCIM connection',
        description: 'Absent fields are unchanged. Organization and provider cannot change.',
        body: ScimConnectionInput,
        response,
      },
    },
    async (request) => {
      const now = new Date()
      const { connection_id } = request.params
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { before, after } = await changeScimConnection(trx, connection_id, request.body, now)
        const changes = changedFields(auditedScimConnection(before), auditedScimConnection(after))
        const traits = { now, connection_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_updated', request, traits)
        return toScimConnection(after, external)
      })
    },
  )
}

export const connectionDeletion: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.delete(
    path,
    {
      config: { minimumRole: 'owner' },
      schema: {
        ...schema,
        summary: 'Delete a SCIM connection with its users, groups and tokens',
        description: 'The accounts of its users are kept; deactivated ones remain deactivated.',
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { connection_id } = request.params
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const removed = await removeScimConnection(trx, connection_id)
        const changes = changedFields(auditedScimConnection(removed), undefined)
        const traits = { now, connection_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default connection
