import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changedBy,
  purgeOrganization,
  restoreOrganization,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import {
  AdminOrganization,
  OrganizationPath,
  toAdminOrganization,
} from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const lifecycle: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/organizations/:organization_id'

  app.post(
    `${path}/restore`,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Restore a deleted organization',
        params: OrganizationPath,
        response: { 200: AdminOrganization, ...ErrorResponses },
      },
    },
    async (request) => {
      const id = readUuid('organization_id', request.params.organization_id)
      const now = new Date()
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const by = await changedBy(trx, request)
        return toAdminOrganization(await restoreOrganization(app, trx, id, by, now))
      })
    },
  )

  app.post(
    `${path}/purge`,
    {
      config: { minimumRole: 'owner' },
      schema: {
        summary:
          'Delete the rows of a deleted organization permanently; its slug is available again',
        params: OrganizationPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const id = readUuid('organization_id', request.params.organization_id)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { slug, name } = await purgeOrganization(trx, id)
        const traits = { now, organization_id: id, slug, name, permanent: true }
        await recordAdminAction(audit, trx, 'organization_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default lifecycle
