import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { countScimUsers, listScimUsers, type ScimUserRow } from '../../../db/scim/users.ts'
import {
  createScimUser,
  type ListRequest,
  permitAccount,
  permitProvisionedJoin,
  readResource,
  readSearch,
  selectAttributes,
  toAccountClaims,
  toUserResource,
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

const definition = resourceDefinitions.User

const path = '/:connection/Users'

const users: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    path,
    {
      schema: {
        ...listRouteSchema,
        summary: 'List provisioned users (SCIM)',
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
        summary: 'Search provisioned users (SCIM)',
        body: ScimSearch,
      },
    },
    (request) => list(app, request, readSearch(request.body)),
  )
}

/** The creation of one. */
export const userCreation: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    path,
    { schema: { ...creationSchema, summary: 'Provision a user (SCIM)' } },
    async (request, reply) => {
      const context = toProvisioningRequest(request)
      const resource = readResource(definition, request.body)
      const claims = toAccountClaims(resource)
      await permitProvisionedJoin(app, context, claims)
      const permit = await permitAccount(app, context.connection, claims, context.ip)
      const row = await applyScimChange(request, (trx, current) =>
        createScimUser(app, trx, current, { resource, permit }),
      )
      reply.status(201).header('location', `${context.base}/Users/${row.id}`)
      const shown = selectAttributes(definition, toUserResource(row, context.base), request.query)
      return sendResource(request, reply, row, shown)
    },
  )
}

function list({ db }: FastifyInstance, request: FastifyRequest, query: ListRequest) {
  return listScimResources<ScimUserRow>(request, query, {
    definition,
    count: (id, filter) => countScimUsers(db, id, filter),
    read: (id, filter, page) => listScimUsers(db, id, filter, page),
    show: toUserResource,
  })
}

export default users
