import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listRoles } from '../../../db/organizations/roles.ts'
import { changeRole, createRole, removeRole } from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import {
  NewRole,
  Role,
  RoleInput,
  Roles,
  toRole,
  toRoles,
} from '../../../schemas/organizations/settings.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ role: Type.String() })])

const addRoles: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/roles',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'roles:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the roles of an organization',
        params: OrganizationPath,
        response: { 200: Roles, ...ErrorResponses },
      },
    },
    async (request) => ({
      roles: toRoles(await listRoles(db, bearerAuth.getOrganization(request).id)),
    }),
  )

  app.post(
    '/roles',
    {
      config: { minimumRole: 'operator', givesAccess: true, organizationPermission: 'roles:write' },
      schema: {
        summary: 'Create a role of an organization',
        description: 'A member gives a role no permission that they do not have.',
        params: OrganizationPath,
        body: NewRole,
        response: { 201: Role, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { name, ...input } = request.body
      const role = await applyOrganizationChange(app, request, (change) => {
        const { trx, id: organizationId, permissions, by, now } = change
        return createRole(app, trx, { organizationId, name }, input, permissions, by, now)
      })
      return reply.status(201).send(toRole(name, [role]))
    },
  )
}

const changeRoles: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    '/roles/:role',
    {
      config: { minimumRole: 'operator', givesAccess: true, organizationPermission: 'roles:write' },
      schema: {
        summary: 'Change a role of an organization',
        params: Path,
        body: RoleInput,
        response: { 200: Role, ...ErrorResponses },
      },
    },
    async (request) => {
      const { role: name } = request.params
      const role = await applyOrganizationChange(app, request, (change) => {
        const { trx, id: organizationId, permissions, by, now } = change
        const key = { organizationId, name }
        return changeRole(app, trx, key, request.body, permissions, by, now)
      })
      return toRole(name, [role])
    },
  )

  app.delete(
    '/roles/:role',
    {
      config: { minimumRole: 'operator', organizationPermission: 'roles:write' },
      schema: {
        summary: 'Delete a role that no member has',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { role: name } = request.params
      await applyOrganizationChange(
        app,
        request,
        ({ trx, id: organizationId, permissions, by, now }) =>
          removeRole(app, trx, { organizationId, name }, permissions, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

export { addRoles, changeRoles }
