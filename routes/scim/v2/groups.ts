/** Provisioned groups (RFC 7644 §3). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { countScimGroups, listScimGroups, type ScimGroupRow } from '../../../db/scim/groups.ts'
import {
  createScimGroup,
  isSelected,
  type ListRequest,
  type ProvisioningRequest,
  patchScimGroup,
  readResource,
  readSearch,
  removeScimGroup,
  replaceScimGroup,
  requireScimGroup,
  type Selection,
  selectAttributes,
  toGroupResource,
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
const groupCreation: FastifyPluginAsyncTypebox = async (app) => {
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

type GroupRequest = FastifyRequest<{ Querystring: Selection }>
type Write = (trx: Trx, context: ProvisioningRequest) => Promise<void>

const groupPath = `${path}/:id`

const group: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    groupPath,
    { schema: { ...resourceSchema, summary: 'Get a provisioned group (SCIM)' } },
    async (request, reply) => {
      const { query } = request
      const row = await requireScimGroup(db, getResourceKey(request, 'Group'), toReadOptions(query))
      return send(request, reply, row, query)
    },
  )

  app.delete(
    groupPath,
    { schema: { ...deletionSchema, summary: 'Deprovision a group (SCIM)' } },
    async (request, reply) => {
      const key = getResourceKey(request, 'Group')
      await applyScimChange(request, (trx, context) => removeScimGroup(app, trx, context, key))
      return reply.removeHeader('content-type').status(204).send(null)
    },
  )
}

/** Changes of the resource. */
const groupWrites: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    groupPath,
    {
      schema: {
        ...resourceSchema,
        summary: 'Replace a provisioned group (SCIM)',
        body: ScimResource,
      },
    },
    async (request, reply) => {
      const resource = readResource(definition, request.body)
      const key = getResourceKey(request, 'Group')
      const row = await change(request, request.query, (trx, context) =>
        replaceScimGroup(app, trx, context, key, resource),
      )
      return send(request, reply, row, request.query)
    },
  )

  app.patch(
    groupPath,
    {
      schema: {
        ...resourceSchema,
        summary: 'Change a provisioned group (SCIM)',
        body: ScimPatch,
      },
    },
    async (request, reply) => {
      const key = getResourceKey(request, 'Group')
      const row = await change(request, request.query, (trx, context) =>
        patchScimGroup(app, trx, context, key, request.body),
      )
      return send(request, reply, row, request.query)
    },
  )
}

function change(request: FastifyRequest, query: Selection, write: Write) {
  return applyScimChange(request, async (trx, context) => {
    await write(trx, context)
    return requireScimGroup(trx, getResourceKey(request, 'Group'), toReadOptions(query))
  })
}

function send(request: FastifyRequest, reply: FastifyReply, row: ScimGroupRow, query: Selection) {
  const resource = toGroupResource(row, toProvisioningRequest(request).base)
  return sendResource(request, reply, row, selectAttributes(definition, resource, query))
}

/** A group may have thousands of members, which are read only when the response contains them. */
const toReadOptions = (query: GroupRequest['query']) => ({
  withMembers: isSelected(definition, 'members', query),
})

export const groupRoutes = { groups, groupCreation, group, groupWrites }
