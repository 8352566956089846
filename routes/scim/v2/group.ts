import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { ScimGroupRow } from '../../../db/scim/groups.ts'
import {
  isSelected,
  type ProvisioningRequest,
  patchScimGroup,
  readResource,
  removeScimGroup,
  replaceScimGroup,
  requireScimGroup,
  type Selection,
  selectAttributes,
  toGroupResource,
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

const definition = resourceDefinitions.Group

type GroupRequest = FastifyRequest<{ Querystring: Selection }>
type Write = (trx: Trx, context: ProvisioningRequest) => Promise<void>

const path = '/:connection/Groups/:id'

const group: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    path,
    { schema: { ...resourceSchema, summary: 'Get a provisioned group (SCIM)' } },
    async (request, reply) => {
      const { query } = request
      const row = await requireScimGroup(db, getResourceKey(request, 'Group'), toReadOptions(query))
      return send(request, reply, row, query)
    },
  )

  app.delete(
    path,
    { schema: { ...deletionSchema, summary: 'Deprovision a group (SCIM)' } },
    async (request, reply) => {
      const key = getResourceKey(request, 'Group')
      await applyScimChange(request, (trx, context) => removeScimGroup(app, trx, context, key))
      return reply.removeHeader('content-type').status(204).send(null)
    },
  )
}

/** Changes of the resource. */
export const groupWrites: FastifyPluginAsyncTypebox = async (app) => {
  app.put(
    path,
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
    path,
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

export default group
