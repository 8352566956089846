/** Connections of an organization to identity providers, and the groups that these provision. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listConnections } from '../../db/organizations/connections.ts'
import { listGroups } from '../../db/organizations/groups.ts'
import {
  changeConnection,
  changedBy,
  changeGroupRole,
  createConnection,
  removeConnection,
} from '../../modules/organizations/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { readUuid } from '../../schemas/fields.ts'
import { OrganizationPath } from '../../schemas/organizations/organization.ts'
import {
  Connection,
  ConnectionChange,
  Connections,
  Group,
  GroupChange,
  Groups,
  NewConnection,
  toConnection,
  toGroup,
} from '../../schemas/organizations/settings.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const ConnectionPath = Type.Composite([
  OrganizationPath,
  Type.Object({ connection_id: Type.String() }),
])

export const readConnections: FastifyPluginAsyncTypebox = async (app) => {
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

export const changeConnections: FastifyPluginAsyncTypebox = async (app) => {
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
        params: ConnectionPath,
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
        params: ConnectionPath,
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

export const newConnection: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/connections',
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Bind a SAML or custom provider to an organization',
        description:
          'Users who sign in with it become members. Without a provider, the connection provisions users only.',
        params: OrganizationPath,
        body: NewConnection,
        response: { 201: Connection, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { name, sso_provider_id, custom_provider, ...change } = request.body
      const input = {
        name,
        ssoProviderId: sso_provider_id,
        customProvider: custom_provider,
        change,
      }
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        const { id, permissions } = await bearerAuth.reauthorizeInOrganization(trx, request, now)
        const by = await changedBy(trx, request)
        return createConnection(app, trx, id, input, permissions, by, now)
      })
      return reply.status(201).send(toConnection(created))
    },
  )
}

const GroupPath = Type.Composite([OrganizationPath, Type.Object({ group_id: Type.String() })])

export const groups: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/groups',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'groups:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the groups of an organization',
        params: OrganizationPath,
        response: { 200: Groups, ...ErrorResponses },
      },
    },
    async (request) => {
      const rows = await listGroups(db, bearerAuth.getOrganization(request).id)
      return { groups: rows.map(toGroup) }
    },
  )

  app.put(
    '/groups/:group_id',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'groups:write',
      },
      schema: {
        summary: 'Set the role of the members of a group',
        description:
          'A member gets the role when the identity provider changes their groups the next time.',
        params: GroupPath,
        body: GroupChange,
        response: { 200: Group, ...ErrorResponses },
      },
    },
    async (request) => {
      const groupId = readUuid('group_id', request.params.group_id)
      return applyOrganizationChange(app, request, async ({ now, ...change }) =>
        toGroup(await changeGroupRole(app, change, groupId, request.body, now)),
      )
    },
  )
}
