import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordOauthClient, requireOwner } from '../../../modules/access/index.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import {
  endClientSessions,
  lockAndGetClient,
  readClientId,
  regenerateSecret,
  showClient,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { OauthClient, OauthClientPath } from '../../../schemas/oauth/client.ts'

const Body = Type.Union([
  Type.Object({
    keep_sessions: Type.Optional(
      Type.Boolean({
        description: 'If true, sessions created with the old secret continue; for owners only',
      }),
    ),
  }),
  Type.Null(),
])

const regenerate: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/admin/oauth/clients/:client_id/regenerate_secret',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Regenerate the secret of an OAuth client',
        description:
          'The old secret becomes invalid immediately, and the sessions of the client are revoked, because it may have leaked.',
        tags: ['admin'],
        params: OauthClientPath,
        body: Body,
        response: { 200: OauthClient, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readClientId(request.params.client_id)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const client = await lockAndGetClient(trx, id)
        const secret = await regenerateSecret(trx, client, now)
        if (!request.body?.keep_sessions) {
          await endClientSessions(app, trx, { client_id: id }, now)
        } else if (!client.isSelfRegistered) {
          requireOwner(request, 'Keeping the sessions of this client')
          const change = 'client_secret, keep_sessions'
          await recordOauthClient(app, trx, { name: client.name ?? id, change }, now)
        }
        const traits = { now, client_id: id }
        await recordAdminAction(audit, trx, 'oauth_client_secret_regenerated', request, traits)
        return { ...showClient(client), client_secret: secret }
      })
    },
  )
}

export default regenerate
