import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listSsoProviders } from '../../../db/saml/providers.ts'
import { recordServerChange } from '../../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import { createSamlProvider, prepareProvider } from '../../../modules/saml/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  auditedSsoProvider,
  SsoProvider,
  SsoProviderInput,
  toSsoProvider,
} from '../../../schemas/sso-provider.ts'

const SsoProviders = Type.Object({ items: Type.Array(SsoProvider) })
const Query = Type.Object({
  resource_id: Type.Optional(Type.String()),
  resource_id_prefix: Type.Optional(Type.String()),
})

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/sso/providers'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List SAML identity providers',
        tags: ['admin'],
        querystring: Query,
        response: { 200: SsoProviders, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      const filter = { resourceId: query.resource_id, resourceIdPrefix: query.resource_id_prefix }
      const rows = await listSsoProviders(db, filter)
      return { items: rows.map((row) => toSsoProvider(row, { withMetadata: false })) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Create a SAML identity provider',
        description: 'With its metadata, or their URL.',
        tags: ['admin'],
        body: SsoProviderInput,
        response: { 201: SsoProvider, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const prepared = await prepareProvider(app, request.body, now)
      const row = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const created = await createSamlProvider(trx, prepared, now)
        const changes = changedFields(undefined, auditedSsoProvider(created))
        const traits = { now, provider: `sso:${created.id}`, ...changes }
        await recordAdminAction(audit, trx, 'sso_provider_created', request, traits)
        const change = `sso_provider_created: ${created.entity_id}`
        await recordServerChange(app, trx, request, { change, details: changes }, now)
        return created
      })
      return reply.status(201).send(toSsoProvider(row))
    },
  )
}

export default list
