import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  type CustomProviderType,
  listCustomProviders,
} from '../../../db/custom-providers/providers.ts'
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

const list: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db } = fastify
  const path = '/admin/custom-providers'

  fastify.get(
    path,
    {
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
      return { providers: rows.map(toCustomProvider) }
    },
  )

  fastify.post(
    path,
    {
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
      const prepared = await prepareNew(fastify, request.body)
      const row = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const created = await createCustomProvider(fastify, trx, prepared, now)
        const changes = changedFields(undefined, auditedCustomProvider(created))
        const traits = { now, provider: created.identifier, ...changes }
        await recordAdminAction(audit, trx, 'custom_provider_created', request, traits)
        return created
      })
      return reply.status(201).send(toCustomProvider(row))
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
