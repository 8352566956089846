import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { changedBy, createConnection } from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { Connection, NewConnection, toConnection } from '../../../schemas/organizations/settings.ts'

const connections: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/connections',
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Bind a SAML or custom provider to an organization',
        description:
          'Users who sign in with it become members. Without a provider, the connection provisions users only.',
        params: OrganizationPath,
        body: NewConnection,
        response: { 201: Connection, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { name, sso_provider_id, custom_provider, ...change } = request.body
      const input = {
        name,
        ssoProviderId: sso_provider_id,
        customProvider: custom_provider,
        change,
      }
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        const { id, permissions } = await bearerAuth.reauthorizeInOrganization(trx, request, now)
        const by = await changedBy(trx, request)
        return createConnection(app, trx, id, input, permissions, by, now)
      })
      return reply.status(201).send(toConnection(created))
    },
  )
}

export default connections
