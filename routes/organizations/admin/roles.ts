import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listRoles } from '../../../db/organizations/roles.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changedBy,
  changeRole,
  createRole,
  removeRole,
  unlimited,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  NewRole,
  Role,
  RoleInput,
  Roles,
  toRole,
  toRoles,
} from '../../../schemas/organizations/settings.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Path = Type.Object({ role: Type.String() })

/** Roles of every organization. One with the name of a system role adds to its permissions. */
const addServerRoles: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/organization-roles'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: { summary: 'List the roles of every organization', response: { 200: Roles } },
    },
    async () => ({ roles: toRoles(await listRoles(db, null)) }),
  )

  app.post(
    path,
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

const changeServerRoles: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/organization-roles'
  const response = { 200: Role, ...ErrorResponses }

  app.put(
    `${path}/:role`,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Change a role of every organization',
        params: Path,
        body: RoleInput,
        response,
      },
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
    `${path}/:role`,
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Delete a role of every organization that no member has',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
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

export { addServerRoles, changeServerRoles }
