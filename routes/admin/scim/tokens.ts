import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listScimTokens } from '../../../db/scim/connections.ts'
import { recordScimToken } from '../../../modules/access/index.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { endScimToken, issueScimToken, requireScimConnection } from '../../../modules/scim/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { ScimToken, ScimTokenInput, toScimToken } from '../../../schemas/scim/connection.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Path = Type.Object({ connection_id: Type.String() })
const TokenPath = Type.Object({ ...Path.properties, token_id: Type.String() })
const ScimTokens = Type.Object({ tokens: Type.Array(ScimToken) })
const IssuedToken = Type.Object({
  id: Type.String({ format: 'uuid' }),
  token: Type.String({ description: 'Shown once' }),
  prefix: Type.String(),
})

const path = '/admin/scim/connections/:connection_id/tokens'

const tokens: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the tokens of a SCIM connection, oldest first',
        tags: ['admin'],
        params: Path,
        response: { 200: ScimTokens, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { sso_provider_id: id } = await requireScimConnection(db, params.connection_id)
      return { tokens: (await listScimTokens(db, id)).map(toScimToken) }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Issue a token for a SCIM connection',
        tags: ['admin'],
        params: Path,
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

export const tokenRevocation: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.delete(
    `${path}/:token_id`,
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

export default tokens
