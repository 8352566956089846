import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findGroup, listGroups, updateGroup } from '../../../db/organizations/groups.ts'
import { checkGrant, recordChange } from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { organizationGroupNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { Group, GroupChange, Groups, toGroup } from '../../../schemas/organizations/settings.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ group_id: Type.String() })])

const groups: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations } = fastify

  fastify.get(
    '/groups',
    {
      config: { permission: 'groups:read' },
      schema: {
        summary: 'List the groups of an organization',
        params: OrganizationPath,
        response: { 200: Groups, ...ErrorResponses },
      },
    },
    async (request) => {
      const rows = await listGroups(db, bearerAuth.organizationOf(request).id)
      return { groups: rows.map(toGroup) }
    },
  )

  fastify.put(
    '/groups/:group_id',
    {
      config: { permission: 'groups:write' },
      schema: {
        summary: 'Set the role of the members of a group',
        description: 'It applies to members whom the provider adds to the group from then on.',
        params: Path,
        body: GroupChange,
        response: { 200: Group, ...ErrorResponses },
      },
    },
    async (request) => {
      const groupId = readUuid('group_id', request.params.group_id)
      return applyOrganizationChange(
        fastify,
        request,
        async ({ trx, id, permissions, by, now }) => {
          if (!(await findGroup(trx, id, groupId))) throw organizationGroupNotFound()
          const { role: given, ...rest } = request.body
          if (given) await checkGrant(trx, id, given, permissions)
          const columns = { ...rest, ...(given !== undefined && { role: given || null }) }
          const group = await updateGroup(trx, groupId, columns, now)
          const { name, role, priority } = group
          const traits = { organization_id: id, group_id: groupId, name, role, priority }
          await recordChange(organizations, trx, 'organization_group_updated', by, traits, now)
          return toGroup(group)
        },
      )
    },
  )
}

export default groups
