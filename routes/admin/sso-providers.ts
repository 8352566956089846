/** SAML identity providers. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Db } from '../../db/core/database.ts'
import {
  findSsoProvider,
  findSsoProviderByResourceId,
  listSsoProviders,
  type SsoProviderRow,
} from '../../db/saml/providers.ts'
import { recordServerChange } from '../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../modules/audit/index.ts'
import {
  changeSamlProvider,
  createSamlProvider,
  prepareProvider,
  removeSamlProvider,
} from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ssoProviderNotFound } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import {
  auditedSsoProvider,
  SsoProvider,
  SsoProviderInput,
  toSsoProvider,
} from '../../schemas/sso-provider.ts'

const SsoProviders = Type.Object({ items: Type.Array(SsoProvider) })
const Query = Type.Object({
  resource_id: Type.Optional(Type.String()),
  resource_id_prefix: Type.Optional(Type.String()),
})

const ssoProviders: FastifyPluginAsyncTypebox = async (app) => {
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

const Path = Type.Object({
  provider: Type.String({ description: 'The id, or resource_ and the resource id' }),
})

const schema = { tags: ['admin'], params: Path }

const response = { 200: SsoProvider, ...ErrorResponses }

const readSchema = { ...schema, summary: 'Get a SAML identity provider', response }

const updateSchema = {
  ...schema,
  summary: 'Update a SAML identity provider',
  description: 'Absent fields are unchanged. The entity id cannot change.',
  body: SsoProviderInput,
  response,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete a SAML identity provider; its users remain',
  response,
}

const ssoProvider: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/sso/providers/:provider'

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, async ({ params }) =>
    toSsoProvider(await find(db, params.provider)),
  )

  app.put(
    path,
    { config: { minimumRole: 'owner', givesAccess: true }, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const prepared = await prepareProvider(app, request.body, now)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { id } = await find(trx, request.params.provider)
        const { before, after } = await changeSamlProvider(trx, id, prepared, now)
        const changes = changedFields(auditedSsoProvider(before), auditedSsoProvider(after))
        const traits = { now, provider: `sso:${id}`, ...changes }
        await recordAdminAction(audit, trx, 'sso_provider_updated', request, traits)
        const change = `sso_provider_updated: ${after.entity_id}`
        await recordServerChange(app, trx, request, { change, details: changes }, now)
        return toSsoProvider(after)
      })
    },
  )

  app.delete(path, { config: { minimumRole: 'owner' }, schema: deleteSchema }, async (request) => {
    const now = new Date()
    return db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const { id } = await find(trx, request.params.provider)
      const removed = await removeSamlProvider(trx, id)
      const changes = changedFields(auditedSsoProvider(removed), undefined)
      const traits = { now, provider: `sso:${id}`, ...changes }
      await recordAdminAction(audit, trx, 'sso_provider_deleted', request, traits)
      return toSsoProvider(removed)
    })
  })

  /** Throws sso_provider_not_found. */
  async function find(db: Db, name: string): Promise<SsoProviderRow> {
    const resource = /^resource_(.+)$/s.exec(name)?.[1]
    const byId = () => (isUuid(name) ? findSsoProvider(db, name) : undefined)
    const row = await (resource ? findSsoProviderByResourceId(db, resource) : byId())
    if (!row) throw ssoProviderNotFound()
    return row
  }
}

export const ssoProviderRoutes = { ssoProviders, ssoProvider }
