import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { countScimGroups, listScimGroups, type ScimGroupRow } from '../../../db/scim/groups.ts'
import {
  createScimGroup,
  isSelected,
  type ListRequest,
  readResource,
  readSearch,
  requireScimGroup,
  selectAttributes,
  toGroupResource,
} from '../../../modules/scim/index.ts'
import { resourceDefinitions } from '../../../schemas/scim/resources.ts'
import { applyScimChange } from './apply-change.ts'
import { listScimResources } from './list-resources.ts'
import {
  creationSchema,
  listRouteSchema,
  ScimListQuery,
  ScimSearch,
  sendResource,
  toProvisioningRequest,
} from './shapes.ts'

const definition = resourceDefinitions.Group

const path = '/:connection/Groups'

const groups: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    path,
    {
      schema: {
        ...listRouteSchema,
        summary: 'List provisioned groups (SCIM)',
        querystring: ScimListQuery,
      },
    },
    (request) => list(app, request, request.query),
  )

  app.post(
    `${path}/.search`,
    {
      schema: {
        ...listRouteSchema,
        summary: 'Search provisioned groups (SCIM)',
        body: ScimSearch,
      },
    },
    (request) => list(app, request, readSearch(request.body)),
  )
}

/** The creation of one. */
export const groupCreation: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    path,
    { schema: { ...creationSchema, summary: 'Provision a group (SCIM)' } },
    async (request, reply) => {
      const context = toProvisioningRequest(request)
      const resource = readResource(definition, request.body)
      const withMembers = isSelected(definition, 'members', request.query)
      const row = await applyScimChange(request, async (trx, current) => {
        const key = await createScimGroup(app, trx, current, resource)
        return requireScimGroup(trx, key, { withMembers })
      })
      reply.status(201).header('location', `${context.base}/Groups/${row.id}`)
      const shown = selectAttributes(definition, toGroupResource(row, context.base), request.query)
      return sendResource(request, reply, row, shown)
    },
  )
}

function list({ db }: FastifyInstance, request: FastifyRequest, query: ListRequest) {
  const withMembers = isSelected(definition, 'members', query)
  return listScimResources<ScimGroupRow>(request, query, {
    definition,
    count: (id, filter) => countScimGroups(db, id, filter),
    read: (id, filter, page) => listScimGroups(db, id, filter, { ...page, withMembers }),
    show: toGroupResource,
  })
}

export default groups
