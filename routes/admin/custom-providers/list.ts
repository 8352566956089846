import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  type CustomProviderType,
  listCustomProviders,
} from '../../../db/custom-providers/providers.ts'
import { recordServerChange } from '../../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import { createCustomProvider, prepareNew } from '../../../modules/custom-providers/index.ts'
import {
  auditedCustomProvider,
  CustomProvider,
  CustomProviderInput,
  toCustomProvider,
} from '../../../schemas/custom-provider.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { customProvidersDisabled, validationFailed } from '../../../schemas/errors.ts'

const CustomProviders = Type.Object({ providers: Type.Array(CustomProvider) })
const Query = Type.Object({
  type: Type.Optional(Type.String({ description: 'oauth2 or oidc; both when absent' })),
})

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const path = '/admin/custom-providers'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List custom providers',
        tags: ['admin'],
        querystring: Query,
        response: { 200: CustomProviders, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      if (!config.AUTH_CUSTOM_OAUTH_ENABLED) throw customProvidersDisabled()
      const rows = await listCustomProviders(db, readType(query.type))
      return { providers: rows.map((row) => toCustomProvider(row, config)) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Create a custom provider',
        description: 'For an OpenID provider, its discovery document is fetched and stored.',
        tags: ['admin'],
        body: CustomProviderInput,
        response: { 201: CustomProvider, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      if (!config.AUTH_CUSTOM_OAUTH_ENABLED) throw customProvidersDisabled()
      const now = new Date()
      const prepared = await prepareNew(app, request.body)
      const row = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const created = await createCustomProvider(app, trx, prepared, now)
        const changes = changedFields(undefined, auditedCustomProvider(created))
        const traits = { now, provider: created.identifier, ...changes }
        await recordAdminAction(audit, trx, 'custom_provider_created', request, traits)
        const change = `custom_provider_created: ${created.identifier}`
        await recordServerChange(app, trx, request, { change, details: changes }, now)
        return created
      })
      return reply.status(201).send(toCustomProvider(row, config))
    },
  )
}

/** Throws validation_failed. */
function readType(type: string | undefined): CustomProviderType | undefined {
  if (!type) return undefined
  if (type === 'oauth2' || type === 'oidc') return type
  throw validationFailed('type must be oauth2 or oidc')
}

export default list
