/** SCIM connections, and the tokens of their identity providers. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listScimConnections, listScimTokens } from '../../db/scim/connections.ts'
import { recordScimToken } from '../../modules/access/index.ts'
import { changedFields, recordAdminAction } from '../../modules/audit/index.ts'
import {
  changeScimConnection,
  createScimConnection,
  endScimToken,
  issueScimToken,
  removeScimConnection,
  requireScimConnection,
} from '../../modules/scim/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed } from '../../schemas/errors.ts'
import {
  auditedScimConnection,
  ScimConnection,
  ScimConnectionInput,
  ScimToken,
  ScimTokenInput,
  toScimConnection,
  toScimToken,
} from '../../schemas/scim/connection.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const ScimConnections = Type.Object({ connections: Type.Array(ScimConnection) })

const scimConnections: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const { AUTH_API_EXTERNAL_URL: external } = config
  const path = '/admin/scim/connections'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List SCIM connections, oldest first',
        tags: ['admin'],
        response: { 200: ScimConnections, ...ErrorResponses },
      },
    },
    async () => {
      const rows = await listScimConnections(db)
      return { connections: rows.map((row) => toScimConnection(row, external)) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Create a SCIM connection',
        description: 'For an organization, for a SAML provider, or for both.',
        tags: ['admin'],
        body: ScimConnectionInput,
        response: { 201: ScimConnection, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const row = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const created = await createScimConnection(trx, request.body, now)
        const changes = changedFields(undefined, auditedScimConnection(created))
        const traits = { now, connection_id: created.sso_provider_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_created', request, traits)
        return created
      })
      return reply.status(201).send(toScimConnection(row, external))
    },
  )
}

const ConnectionPath = Type.Object({ connection_id: Type.String() })

const connectionPath = '/admin/scim/connections/:connection_id'
const connectionSchema = { tags: ['admin'], params: ConnectionPath }
const connectionResponse = { 200: ScimConnection, ...ErrorResponses }

const scimConnection: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
  const { AUTH_API_EXTERNAL_URL: external } = config

  app.get(
    connectionPath,
    {
      config: { minimumRole: 'support' },
      schema: {
        ...connectionSchema,
        summary: 'Get a SCIM connection',
        response: connectionResponse,
      },
    },
    async ({ params }) =>
      toScimConnection(await requireScimConnection(db, params.connection_id), external),
  )

  app.put(
    connectionPath,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        ...connectionSchema,
        summary: 'Update a SCIM connection',
        description: 'Absent fields are unchanged. Organization and provider cannot change.',
        body: ScimConnectionInput,
        response: connectionResponse,
      },
    },
    async (request) => {
      const now = new Date()
      const { connection_id } = request.params
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { before, after } = await changeScimConnection(trx, connection_id, request.body, now)
        const changes = changedFields(auditedScimConnection(before), auditedScimConnection(after))
        const traits = { now, connection_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_updated', request, traits)
        return toScimConnection(after, external)
      })
    },
  )
}

const scimConnectionDeletion: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.delete(
    connectionPath,
    {
      config: { minimumRole: 'owner' },
      schema: {
        ...connectionSchema,
        summary: 'Delete a SCIM connection with its users, groups and tokens',
        description: 'The accounts of its users are kept; deactivated ones remain deactivated.',
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { connection_id } = request.params
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const removed = await removeScimConnection(trx, connection_id)
        const changes = changedFields(auditedScimConnection(removed), undefined)
        const traits = { now, connection_id, ...changes }
        await recordAdminAction(audit, trx, 'scim_connection_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

const TokenPath = Type.Object({ ...ConnectionPath.properties, token_id: Type.String() })
const ScimTokens = Type.Object({ tokens: Type.Array(ScimToken) })
const IssuedToken = Type.Object({
  id: Type.String({ format: 'uuid' }),
  token: Type.String({ description: 'Shown once' }),
  prefix: Type.String(),
})

const tokensPath = '/admin/scim/connections/:connection_id/tokens'

const scimTokens: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    tokensPath,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the tokens of a SCIM connection, oldest first',
        tags: ['admin'],
        params: ConnectionPath,
        response: { 200: ScimTokens, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { sso_provider_id: id } = await requireScimConnection(db, params.connection_id)
      return { tokens: (await listScimTokens(db, id)).map(toScimToken) }
    },
  )

  app.post(
    tokensPath,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Issue a token for a SCIM connection',
        tags: ['admin'],
        params: ConnectionPath,
        body: ScimTokenInput,
        response: { 201: IssuedToken, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { body, params } = request
      const { name, expires_in: seconds } = body
      const now = new Date()
      const expiresAt = seconds === undefined ? null : new Date(now.getTime() + seconds * 1000)
      const issued = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        if (!name) throw validationFailed('name is required', 422)
        const connection = await requireScimConnection(trx, params.connection_id)
        const { sso_provider_id: id } = connection
        const token = await issueScimToken(trx, id, { name, expiresAt }, now)
        const traits = { now, connection_id: id, token_id: token.id, after: { name } }
        await recordAdminAction(audit, trx, 'scim_token_issued', request, traits)
        await recordScimToken(app, trx, { name, connection: connection.name }, now)
        return token
      })
      return reply.status(201).send(issued)
    },
  )
}

const scimTokenRevocation: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.delete(
    `${tokensPath}/:token_id`,
    {
      config: { minimumRole: 'owner' },
      schema: {
        summary: 'Revoke a token of a SCIM connection',
        tags: ['admin'],
        params: TokenPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { connection_id, token_id } = request.params
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        await endScimToken(trx, { connectionId: connection_id, id: token_id }, now)
        const traits = { now, connection_id, token_id }
        await recordAdminAction(audit, trx, 'scim_token_revoked', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export const scimConnectionRoutes = {
  scimConnections,
  scimConnection,
  scimConnectionDeletion,
  scimTokens,
  scimTokenRevocation,
}
