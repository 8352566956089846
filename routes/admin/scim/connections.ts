import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listScimConnections } from '../../../db/scim/connections.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import { createScimConnection } from '../../../modules/scim/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  auditedScimConnection,
  ScimConnection,
  ScimConnectionInput,
  toScimConnection,
} from '../../../schemas/scim/connection.ts'

const ScimConnections = Type.Object({ connections: Type.Array(ScimConnection) })

const connections: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const { AUTH_API_EXTERNAL_URL: external } = config
  const path = '/admin/scim/connections'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List SCIM connections, oldest first',
        tags: ['admin'],
        response: { 200: ScimConnections, ...ErrorResponses },
      },
    },
    async () => {
      const rows = await listScimConnections(db)
      return { connections: rows.map((row) => toScimConnection(row, external)) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Create a SCIM connection',
        description: 'For an organization, for a SAML provider, or for both.',
        tags: ['admin'],
        body: ScimConnectionInput,
        response: { 201: ScimConnection, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const row = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const created = await createScimConnection(trx, request.body, now)
        const changes = changedFields(undefined, auditedScimConnection(created))
        const traits = { now, connection_id: created.sso_provider_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_created', request, traits)
        return created
      })
      return reply.status(201).send(toScimConnection(row, external))
    },
  )
}

export default connections
