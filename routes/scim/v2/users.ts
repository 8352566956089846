/** Provisioned users (RFC 7644 §3). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { countScimUsers, listScimUsers, type ScimUserRow } from '../../../db/scim/users.ts'
import type { StoredScimResource as Resource } from '../../../db/tables/scim.ts'
import {
  applyOperations,
  changeScimUser,
  createScimUser,
  deleteScimUser,
  type ListRequest,
  permitAccount,
  permitProvisionedJoin,
  readOperations,
  readResource,
  readSearch,
  requireScimUser,
  type Selection,
  selectAttributes,
  toAccountClaims,
  toUserResource,
} from '../../../modules/scim/index.ts'
import { resourceDefinitions } from '../../../schemas/scim/resources.ts'
import {
  applyScimChange,
  creationSchema,
  deletionSchema,
  getResourceKey,
  listRouteSchema,
  listScimResources,
  resourceSchema,
  ScimListQuery,
  ScimPatch,
  ScimResource,
  ScimSearch,
  sendResource,
  toProvisioningRequest,
} from './resources.ts'

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
const userCreation: FastifyPluginAsyncTypebox = async (app) => {
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

const userPath = `${path}/:id`

const user: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    userPath,
    { schema: { ...resourceSchema, summary: 'Get a provisioned user (SCIM)' } },
    async (request, reply) => {
      const row = await requireScimUser(db, getResourceKey(request, 'User'))
      return send(request, reply, row, request.query)
    },
  )

  app.delete(
    userPath,
    { schema: { ...deletionSchema, summary: 'Deprovision a user (SCIM)' } },
    async (request, reply) => {
      const key = getResourceKey(request, 'User')
      await applyScimChange(request, (trx, context) => deleteScimUser(app, trx, context, key))
      return reply.removeHeader('content-type').status(204).send(null)
    },
  )
}

/** Changes of the resource. */
const userWrites: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    userPath,
    {
      schema: {
        ...resourceSchema,
        summary: 'Replace a provisioned user (SCIM)',
        body: ScimResource,
      },
    },
    async (request, reply) => {
      const resource = readResource(definition, request.body)
      return send(request, reply, await change(app, request, () => resource), request.query)
    },
  )

  app.patch(
    userPath,
    {
      schema: {
        ...resourceSchema,
        summary: 'Change a provisioned user (SCIM)',
        body: ScimPatch,
      },
    },
    async (request, reply) => {
      const row = await change(app, request, (resource) =>
        applyOperations(definition, resource, readOperations(definition, request.body, resource)),
      )
      return send(request, reply, row, request.query)
    },
  )
}

function change(
  app: FastifyInstance,
  request: FastifyRequest,
  make: (resource: Resource) => Resource,
) {
  const key = getResourceKey(request, 'User')
  return applyScimChange(request, (trx, context) => changeScimUser(app, trx, context, key, make))
}

function send(request: FastifyRequest, reply: FastifyReply, row: ScimUserRow, query: Selection) {
  const resource = toUserResource(row, toProvisioningRequest(request).base)
  return sendResource(request, reply, row, selectAttributes(definition, resource, query))
}

export const userRoutes = { users, userCreation, user, userWrites }
