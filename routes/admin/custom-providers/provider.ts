import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Db } from '../../../db/core/database.ts'
import {
  type CustomProviderRow,
  findCustomProvider,
} from '../../../db/custom-providers/providers.ts'
import { recordServerChange } from '../../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import {
  changeCustomProvider,
  checkIdentifier,
  prepareChange,
  removeCustomProvider,
} from '../../../modules/custom-providers/index.ts'
import {
  auditedCustomProvider,
  CustomProvider,
  CustomProviderInput,
  toCustomProvider,
} from '../../../schemas/custom-provider.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { customProviderNotFound, customProvidersDisabled } from '../../../schemas/errors.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

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

const provider: FastifyPluginAsyncTypebox = async (app) => {
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

export default provider
