/** Roles of an organization, and those of every organization, which admins of the server define. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listRoles } from '../../db/organizations/roles.ts'
import { recordAdminAction } from '../../modules/audit/index.ts'
import {
  changedBy,
  changeRole,
  createRole,
  removeRole,
  unlimited,
} from '../../modules/organizations/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { OrganizationPath } from '../../schemas/organizations/organization.ts'
import {
  NewRole,
  Role,
  RoleInput,
  Roles,
  toRole,
  toRoles,
} from '../../schemas/organizations/settings.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ role: Type.String() })])

export const addRoles: FastifyPluginAsyncTypebox = async (app) => {
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

export const changeRoles: FastifyPluginAsyncTypebox = async (app) => {
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

const ServerRolePath = Type.Object({ role: Type.String() })

const serverPath = '/admin/organization-roles'

/** Roles of every organization. One with the name of a system role adds to its permissions. */
export const addServerRoles: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    serverPath,
    {
      config: { minimumRole: 'support' },
      schema: { summary: 'List the roles of every organization', response: { 200: Roles } },
    },
    async () => ({ roles: toRoles(await listRoles(db, null)) }),
  )

  app.post(
    serverPath,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Create a role of every organization, or add permissions to a system role',
        body: NewRole,
        response: { 201: Role, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { name, ...input } = request.body
      const now = new Date()
      const role = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const by = await changedBy(trx, request)
        const key = { organizationId: null, name }
        const created = await createRole(app, trx, key, input, unlimited, by, now)
        const traits = { now, role: name, permissions: created.permissions }
        await recordAdminAction(audit, trx, 'organization_role_created', request, traits)
        return created
      })
      return reply.status(201).send(toRole(name, [role]))
    },
  )
}

const changeServerRoleSchema = {
  summary: 'Change a role of every organization',
  params: ServerRolePath,
  body: RoleInput,
  response: { 200: Role, ...ErrorResponses },
}

const deleteServerRoleSchema = {
  summary: 'Delete a role of every organization that no member has',
  params: ServerRolePath,
  response: { 204: NoBody, ...ErrorResponses },
}

export const changeServerRoles: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.put(
    `${serverPath}/:role`,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: changeServerRoleSchema,
    },
    async (request) => {
      const { role: name } = request.params
      const now = new Date()
      const role = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const by = await changedBy(trx, request)
        const key = { organizationId: null, name }
        const input = request.body
        const changed = await changeRole(app, trx, key, input, unlimited, by, now)
        const traits = { now, role: name, permissions: changed.permissions }
        await recordAdminAction(audit, trx, 'organization_role_updated', request, traits)
        return changed
      })
      return toRole(name, [role])
    },
  )

  app.delete(
    `${serverPath}/:role`,
    {
      config: { minimumRole: 'operator' },
      schema: deleteServerRoleSchema,
    },
    async (request, reply) => {
      const { role: name } = request.params
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const by = await changedBy(trx, request)
        const key = { organizationId: null, name }
        await removeRole(app, trx, key, unlimited, by, now)
        const traits = { now, role: name }
        await recordAdminAction(audit, trx, 'organization_role_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}
