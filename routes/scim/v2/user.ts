import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { ScimUserRow } from '../../../db/scim/users.ts'
import type { StoredScimResource as Resource } from '../../../db/tables/scim.ts'
import {
  applyOperations,
  changeScimUser,
  deleteScimUser,
  readOperations,
  readResource,
  requireScimUser,
  type Selection,
  selectAttributes,
  toUserResource,
} from '../../../modules/scim/index.ts'
import { resourceDefinitions } from '../../../schemas/scim/resources.ts'
import { applyScimChange } from './apply-change.ts'
import {
  deletionSchema,
  getResourceKey,
  resourceSchema,
  ScimPatch,
  ScimResource,
  sendResource,
  toProvisioningRequest,
} from './shapes.ts'

const definition = resourceDefinitions.User

const path = '/:connection/Users/:id'

const user: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    path,
    { schema: { ...resourceSchema, summary: 'Get a provisioned user (SCIM)' } },
    async (request, reply) => {
      const row = await requireScimUser(db, getResourceKey(request, 'User'))
      return send(request, reply, row, request.query)
    },
  )

  app.delete(
    path,
    { schema: { ...deletionSchema, summary: 'Deprovision a user (SCIM)' } },
    async (request, reply) => {
      const key = getResourceKey(request, 'User')
      await applyScimChange(request, (trx, context) => deleteScimUser(app, trx, context, key))
      return reply.removeHeader('content-type').status(204).send(null)
    },
  )
}

/** Changes of the resource. */
export const userWrites: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    path,
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
    path,
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

export default user
