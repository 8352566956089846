import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Db } from '../../../db/core/database.ts'
import { findListedMember, findMember, listMembers } from '../../../db/organizations/members.ts'
import {
  checkGrant,
  checkReach,
  removeMember,
  setMemberRole,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { memberNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { readList, SearchQuery, toPage } from '../../../schemas/organizations/list.ts'
import { Member, Members, RoleField, toMember } from '../../../schemas/organizations/member.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { type AuthorizedChange, applyOrganizationChange } from './change.ts'

const RoleChange = Type.Object({ role: RoleField })
const Path = Type.Composite([OrganizationPath, Type.Object({ user_id: Type.String() })])
const Query = Type.Object({ ...SearchQuery, role: Type.Optional(Type.String()) })

const readMembers: FastifyPluginAsyncTypebox = async (app) => {
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

const changeMembers: FastifyPluginAsyncTypebox = async (app) => {
  const response = { 200: Member, ...ErrorResponses }

  app.put(
    '/members/:user_id',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'members:write',
      },
      schema: {
        summary: 'Give a member another role',
        description: 'A member gives no role, and changes no member, with more permissions.',
        params: Path,
        body: RoleChange,
        response,
      },
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
      schema: {
        summary: 'Remove a member from an organization',
        description: 'The account is kept. Sessions of the user lose the organization.',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
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

export { changeMembers, readMembers }
