/** Custom providers, which operators add at run time. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Db } from '../../db/core/database.ts'
import {
  type CustomProviderRow,
  type CustomProviderType,
  findCustomProvider,
  listCustomProviders,
} from '../../db/custom-providers/providers.ts'
import { recordServerChange } from '../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../modules/audit/index.ts'
import {
  changeCustomProvider,
  checkIdentifier,
  createCustomProvider,
  prepareChange,
  prepareNew,
  removeCustomProvider,
} from '../../modules/custom-providers/index.ts'
import {
  auditedCustomProvider,
  CustomProvider,
  CustomProviderInput,
  toCustomProvider,
} from '../../schemas/custom-provider.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  customProviderNotFound,
  customProvidersDisabled,
  validationFailed,
} from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const CustomProviders = Type.Object({ providers: Type.Array(CustomProvider) })
const Query = Type.Object({
  type: Type.Optional(Type.String({ description: 'oauth2 or oidc; both when absent' })),
})

const customProviders: FastifyPluginAsyncTypebox = async (app) => {
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

const Path = Type.Object({ identifier: Type.String() })

const schema = { tags: ['admin'], params: Path }

const response = { 200: CustomProvider, ...ErrorResponses }

const readSchema = { ...schema, summary: 'Get a custom provider', response }

const updateSchema = {
  ...schema,
  summary: 'Update a custom provider',
  description: 'Absent fields are unchanged. The change applies immediately on every replica.',
  body: CustomProviderInput,
  response,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete a custom provider; its users remain',
  response: { 204: NoBody, ...ErrorResponses },
}

const customProvider: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const path = '/admin/custom-providers/:identifier'

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, async ({ params }) =>
    toCustomProvider(await find(db, params.identifier), config),
  )

  app.put(
    path,
    { config: { minimumRole: 'owner', givesAccess: true }, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const { identifier } = request.params
      const prepared = await prepareChange(app, await find(db, identifier), request.body)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { before, after } = await changeCustomProvider(app, trx, identifier, prepared, now)
        const changes = changedFields(auditedCustomProvider(before), auditedCustomProvider(after))
        const traits = { now, provider: identifier, ...changes }
        await recordAdminAction(audit, trx, 'custom_provider_updated', request, traits)
        const change = `custom_provider_updated: ${identifier}`
        await recordServerChange(app, trx, request, { change, details: changes }, now)
        return toCustomProvider(after, config)
      })
    },
  )

  app.delete(
    path,
    { config: { minimumRole: 'owner' }, schema: deleteSchema },
    async (request, reply) => {
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { identifier } = await find(trx, request.params.identifier)
        const removed = await removeCustomProvider(trx, identifier)
        const changes = changedFields(auditedCustomProvider(removed), undefined)
        const traits = { now, provider: identifier, ...changes }
        await recordAdminAction(audit, trx, 'custom_provider_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )

  /** Throws feature_disabled, validation_failed, custom_provider_not_found. */
  async function find(db: Db, identifier: string): Promise<CustomProviderRow> {
    if (!config.AUTH_CUSTOM_OAUTH_ENABLED) throw customProvidersDisabled()
    checkIdentifier(identifier)
    const row = await findCustomProvider(db, identifier)
    if (!row) throw customProviderNotFound()
    return row
  }
}

export const customProviderRoutes = { customProviders, customProvider }
