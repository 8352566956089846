import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { countScimGroups, listScimGroups } from '../../../db/scim/groups.ts'
import { countScimUsers, listScimUsers } from '../../../db/scim/users.ts'
import {
  createSelector,
  readFilter,
  readScimPage,
  readSearch,
  toGroupResource,
  toList,
  toUserResource,
} from '../../../modules/scim/index.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import { resourceDefinitions } from '../../../schemas/scim/resources.ts'
import { listRouteSchema, ScimSearch, toProvisioningRequest } from './shapes.ts'

const { User, Group } = resourceDefinitions

/** A search for all resources: users come first, then groups. */
const search: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.post(
    '/:connection/.search',
    {
      schema: {
        ...listRouteSchema,
        summary: 'Search provisioned users and groups (SCIM)',
        description: 'By startIndex and count. The filter names attributes that both have.',
        body: ScimSearch,
      },
    },
    async (request) => {
      const { connection, base } = toProvisioningRequest(request)
      const { sso_provider_id: id } = connection
      const query = readSearch(request.body)
      const page = readScimPage(query)
      if (page.byCursor) {
        throw scimRejected(400, 'invalidCursor', 'Search one resource type to use a cursor')
      }
      const { filter } = query
      const [ofUsers, ofGroups] = [User, Group].map((type) =>
        filter ? readFilter(type, filter) : undefined,
      )
      const [showUser, showGroup] = [createSelector(User, query), createSelector(Group, query)]
      const userCount = await countScimUsers(db, id, ofUsers)
      const groupCount = await countScimGroups(db, id, ofGroups)
      const users = await listScimUsers(db, id, ofUsers, page)
      const rest = {
        limit: page.limit - users.length,
        offset: Math.max(0, page.offset - userCount),
      }
      const groupPage = { ...rest, withMembers: true }
      const groups = await listScimGroups(db, id, ofGroups, groupPage)
      const rows = [
        ...users.map((row) => ({ ...row, shown: showUser(toUserResource(row, base)) })),
        ...groups.map((row) => ({ ...row, shown: showGroup(toGroupResource(row, base)) })),
      ]
      return toList(page, rows, userCount + groupCount, ({ shown }) => shown)
    },
  )
}

export default search
