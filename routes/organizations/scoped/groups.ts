import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listGroups } from '../../../db/organizations/groups.ts'
import { changeGroupRole } from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { Group, GroupChange, Groups, toGroup } from '../../../schemas/organizations/settings.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ group_id: Type.String() })])

const groups: FastifyPluginAsyncTypebox = async (app) => {
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
        params: Path,
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

export default groups
