import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { countScimGroups, listScimGroups } from '../../../db/scim/groups.ts'
import { countScimUsers, listScimUsers } from '../../../db/scim/users.ts'
import {
  createSelector,
  type ListRequest,
  readFilter,
  readScimPage,
  readSearch,
  toGroupResource,
  toList,
  toUserResource,
} from '../../../modules/scim/index.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import { resourceDefinitions } from '../../../schemas/scim/resources.ts'
import { listRouteSchema, ScimListQuery, ScimSearch, toProvisioningRequest } from './resources.ts'

const { User, Group } = resourceDefinitions

/** The base address, and a search for all resources: users come first, then groups. */
const search: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/:connection',
    {
      schema: {
        ...listRouteSchema,
        summary: 'List provisioned users and groups (SCIM)',
        description,
        querystring: ScimListQuery,
      },
    },
    (request) => list(app, request, request.query),
  )

  app.post(
    '/:connection/.search',
    {
      schema: {
        ...listRouteSchema,
        summary: 'Search provisioned users and groups (SCIM)',
        description,
        body: ScimSearch,
      },
    },
    (request) => list(app, request, readSearch(request.body)),
  )
}

const description = 'By startIndex and count. The filter names attributes that both have.'

async function list({ db }: FastifyInstance, request: FastifyRequest, query: ListRequest) {
  const { connection, base } = toProvisioningRequest(request)
  const { sso_provider_id: id } = connection
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
}

export default search
