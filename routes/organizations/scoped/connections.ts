import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listConnections } from '../../../db/organizations/connections.ts'
import { changeConnection, removeConnection } from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import {
  Connection,
  ConnectionChange,
  Connections,
  toConnection,
} from '../../../schemas/organizations/settings.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ connection_id: Type.String() })])

const readConnections: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/connections',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'connections:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the connections of an organization',
        params: OrganizationPath,
        response: { 200: Connections, ...ErrorResponses },
      },
    },
    async (request) => {
      const rows = await listConnections(db, bearerAuth.getOrganization(request).id)
      return { connections: rows.map(toConnection) }
    },
  )
}

const changeConnections: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    '/connections/:connection_id',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'connections:write',
      },
      schema: {
        summary: 'Change the roles of a connection, or switch it off',
        params: Path,
        body: ConnectionChange,
        response: { 200: Connection, ...ErrorResponses },
      },
    },
    async (request) => {
      const id = readUuid('connection_id', request.params.connection_id)
      return applyOrganizationChange(app, request, async (change) => {
        const { trx, id: organizationId, permissions, by, now } = change
        const key = { organizationId, id }
        return toConnection(
          await changeConnection(app, trx, key, request.body, permissions, by, now),
        )
      })
    },
  )

  app.delete(
    '/connections/:connection_id',
    {
      config: { minimumRole: 'operator', organizationPermission: 'connections:write' },
      schema: {
        summary: 'Unbind a provider from an organization; its users stay members',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const id = readUuid('connection_id', request.params.connection_id)
      await applyOrganizationChange(app, request, ({ trx, id: organizationId, by, now }) =>
        removeConnection(app, trx, { organizationId, id }, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

export { changeConnections, readConnections }
