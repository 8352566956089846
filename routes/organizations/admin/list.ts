import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listAllOrganizations } from '../../../db/organizations/organizations.ts'
import { changedBy, createOrganization, readSlug } from '../../../modules/organizations/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Next, readList, SearchQuery, toPage } from '../../../schemas/organizations/list.ts'
import {
  AdminOrganization,
  checkOrganizationMetadata,
  OrganizationInput,
  toAdminOrganization,
} from '../../../schemas/organizations/organization.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'

const Query = Type.Object({
  ...SearchQuery,
  deleted: Type.Optional(
    StringEnum(['true', 'false'], { description: 'Deleted organizations only' }),
  ),
})
const List = Type.Object({ organizations: Type.Array(AdminOrganization), next: Next })
const Body = Type.Object({
  ...OrganizationInput.properties,
  owner_id: Type.Optional(Type.String({ format: 'uuid', description: 'The first owner' })),
})

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/admin/organizations'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List organizations, newest first',
        querystring: Query,
        response: { 200: List, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      const { size, ...filter } = readList(query)
      const deleted = query.deleted === 'true'
      const rows = await listAllOrganizations(db, { ...filter, deleted }, size)
      const { page, next } = toPage(rows, size, ({ id }) => id)
      return { organizations: page.map(toAdminOrganization), next }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Create an organization',
        body: Body,
        response: { 201: AdminOrganization, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { owner_id: ownerId, slug, metadata, name } = request.body
      if (slug !== undefined) readSlug(slug)
      checkOrganizationMetadata(metadata)
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now, ownerId ? { id: ownerId } : [])
        if (ownerId) await lockUserById(trx, ownerId)
        const by = await changedBy(trx, request)
        const input = { name: name.trim(), slug, metadata }
        return createOrganization(app, trx, input, ownerId ?? null, by, now)
      })
      return reply.status(201).send(toAdminOrganization(created))
    },
  )
}

export default list
