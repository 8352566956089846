/** Members of an organization. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Db } from '../../db/core/database.ts'
import { findListedMember, findMember, listMembers } from '../../db/organizations/members.ts'
import {
  addMember,
  changedBy,
  checkGrant,
  checkReach,
  findRolePermissions,
  removeMember,
  setMemberRole,
} from '../../modules/organizations/index.ts'
import { lockUserById } from '../../modules/users/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { memberExists, memberNotFound } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import { readList, SearchQuery, toPage } from '../../schemas/organizations/list.ts'
import { Member, Members, RoleField, toMember } from '../../schemas/organizations/member.ts'
import { OrganizationPath } from '../../schemas/organizations/organization.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { type AuthorizedChange, applyOrganizationChange } from './change.ts'

const RoleChange = Type.Object({ role: RoleField })
const Path = Type.Composite([OrganizationPath, Type.Object({ user_id: Type.String() })])
const Query = Type.Object({ ...SearchQuery, role: Type.Optional(Type.String()) })

export const readMembers: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const response = { 200: Member, ...ErrorResponses }

  app.get(
    '/members',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'members:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the members of an organization, newest first',
        params: OrganizationPath,
        querystring: Query,
        response: { 200: Members, ...ErrorResponses },
      },
    },
    async (request) => {
      const { size, ...filter } = readList(request.query)
      const { id } = bearerAuth.getOrganization(request)
      const rows = await listMembers(db, id, { ...filter, role: request.query.role }, size)
      const { page, next } = toPage(rows, size, ({ user_id }) => user_id)
      return { members: page.map(toMember), next }
    },
  )

  app.get(
    '/members/:user_id',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'members:read',
        rejectsImpersonation: false,
      },
      schema: { summary: 'Get a member of an organization', params: Path, response },
    },
    async (request) => {
      const userId = readUuid('user_id', request.params.user_id)
      return shown(db, bearerAuth.getOrganization(request).id, userId)
    },
  )
}

const roleSchema = {
  summary: 'Give a member another role',
  description: 'A member gives no role, and changes no member, with more permissions.',
  params: Path,
  body: RoleChange,
  response: { 200: Member, ...ErrorResponses },
}

const removeSchema = {
  summary: 'Remove a member from an organization',
  description: 'The account is kept. Sessions of the user lose the organization.',
  params: Path,
  response: { 204: NoBody, ...ErrorResponses },
}

export const changeMembers: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    '/members/:user_id',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'members:write',
      },
      schema: roleSchema,
    },
    async (request) => {
      const userId = readUuid('user_id', request.params.user_id)
      const { role } = request.body
      return applyOrganizationChange(
        app,
        request,
        async (change) => {
          await checkMember(change, userId)
          const { trx, id, permissions, by, now } = change
          await checkGrant(trx, id, role, permissions)
          await setMemberRole(app, trx, { organizationId: id, userId }, role, by, now)
          return shown(trx, id, userId)
        },
        [userId],
      )
    },
  )

  app.delete(
    '/members/:user_id',
    {
      config: { minimumRole: 'operator', organizationPermission: 'members:write' },
      schema: removeSchema,
    },
    async (request, reply) => {
      const userId = readUuid('user_id', request.params.user_id)
      const remove = async (change: AuthorizedChange) => {
        await checkMember(change, userId)
        const key = { organizationId: change.id, userId }
        await removeMember(app, change.trx, key, change.by, change.now)
      }
      await applyOrganizationChange(app, request, remove, [userId])
      return reply.status(204).send(null)
    },
  )
}

/** Throws member_not_found, and organization_role_too_high for a member with more permissions than the actor. */
async function checkMember(
  { trx, id, permissions }: AuthorizedChange,
  userId: string,
): Promise<void> {
  const member = await findMember(trx, id, userId)
  if (!member) throw memberNotFound()
  await checkReach(trx, id, member.role, permissions)
}

async function shown(db: Db, organizationId: string, userId: string) {
  const found = await findListedMember(db, organizationId, userId)
  if (!found) throw memberNotFound()
  return toMember(found)
}

const NewMember = Type.Object({
  user_id: Type.String({ format: 'uuid' }),
  role: Type.Optional(RoleField),
})

export const newMember: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/members',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Make a user a member of an organization',
        params: OrganizationPath,
        body: NewMember,
        response: { 201: Member, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user_id: userId, role = 'member' } = request.body
      const now = new Date()
      const added = await db.transaction().execute(async (trx) => {
        const { id } = await bearerAuth.reauthorizeInOrganization(trx, request, now, [userId])
        await lockUserById(trx, userId)
        await findRolePermissions(trx, id, role)
        const by = await changedBy(trx, request)
        const member = { organization_id: id, user_id: userId, role, connection_id: null }
        const joined = { ...member, joined_by: 'admin' as const }
        if (!(await addMember(app, trx, joined, by, now))) throw memberExists()
        return findListedMember(trx, id, userId)
      })
      if (!added) throw memberNotFound()
      return reply.status(201).send(toMember(added))
    },
  )
}
