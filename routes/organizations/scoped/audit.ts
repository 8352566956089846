import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listOrganizationAudit } from '../../../db/organizations/audit.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { OrganizationListQuery, readList, toPage } from '../../../schemas/organizations/list.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { AuditEntries } from '../../../schemas/organizations/settings.ts'
import { toTimestamp } from '../../../schemas/values/timestamp.ts'

const Query = Type.Object({ ...OrganizationListQuery, action: Type.Optional(Type.String()) })

const audit: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/audit',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'audit:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List changes of an organization, newest first',
        params: OrganizationPath,
        querystring: Query,
        response: { 200: AuditEntries, ...ErrorResponses },
      },
    },
    async (request) => {
      const { size, after } = readList(request.query)
      const { id } = bearerAuth.getOrganization(request)
      const filter = { action: request.query.action || undefined, after }
      const rows = await listOrganizationAudit(db, id, filter, size)
      const { page, next } = toPage(rows, size, (row) => row.id)
      const entries = page.map(
        ({ organization_id: _, microseconds: __, created_at, acting, ...entry }) => ({
          ...entry,
          ...acting,
          created_at: toTimestamp(created_at),
        }),
      )
      return { entries, next }
    },
  )
}

export default audit
