import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findOrganization } from '../../../db/organizations/organizations.ts'
import {
  changeOrganization,
  checkJoiningRoles,
  deleteOrganization,
  readSlug,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { organizationNotFound } from '../../../schemas/errors.ts'
import {
  checkOrganizationMetadata,
  Organization,
  OrganizationChange,
  OrganizationPath,
  organizationColumns,
  toOrganization,
} from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const readOrganization: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const params = OrganizationPath

  app.get(
    '',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'organization:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'Get an organization',
        params,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const found = await findOrganization(db, bearerAuth.getOrganization(request).id)
      if (!found) throw organizationNotFound()
      return toOrganization(found)
    },
  )
}

const writeOrganization: FastifyPluginAsyncTypebox = async (app) => {
  const params = OrganizationPath

  app.put(
    '',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'organization:write',
      },
      schema: {
        summary: 'Change an organization, and how users join it',
        description: 'Absent fields are unchanged.',
        params,
        body: OrganizationChange,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const { slug, metadata } = request.body
      if (slug !== undefined) readSlug(slug)
      checkOrganizationMetadata(metadata)
      const columns = organizationColumns(request.body)
      return applyOrganizationChange(app, request, async ({ trx, id, permissions, by, now }) => {
        await checkJoiningRoles(trx, id, columns, permissions)
        return toOrganization(await changeOrganization(app, trx, id, columns, by, now))
      })
    },
  )

  app.delete(
    '',
    {
      config: { minimumRole: 'operator', organizationPermission: 'organization:delete' },
      schema: {
        summary: 'Delete an organization',
        description: 'Its members lose all access to it immediately. An admin can restore it.',
        params,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await applyOrganizationChange(app, request, ({ trx, id, by, now }) =>
        deleteOrganization(app, trx, id, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

export { readOrganization, writeOrganization }
