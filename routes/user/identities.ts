import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { requireFreshProof } from '../../modules/access/index.ts'
import {
  createStateValue,
  readLinkContext,
  startAuthorization,
  stateCookie,
} from '../../modules/flows/index.ts'
import { unlinkIdentity } from '../../modules/identities/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { manualLinkingDisabled } from '../../schemas/errors.ts'
import { LinkQuery } from '../../schemas/external.ts'
import { readUuid } from '../../schemas/fields.ts'
import { EmptyObject, NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

const IdentityPath = Type.Object({ identity_id: Type.String() })

const Target = Type.Object({ url: Type.String() })

const readSchema = {
  summary: 'Link an identity: starts the authorization code flow for the current user',
  tags: ['user'],
  querystring: ManyQuery,
  documented: { querystring: LinkQuery },
  response: { 200: Target, 302: NoBody, ...ErrorResponses },
}

const deleteSchema = {
  summary: 'Unlink an identity',
  tags: ['user'],
  params: IdentityPath,
  response: { 200: EmptyObject, ...ErrorResponses },
}

const userIdentities: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db } = app

  async function requireLinking() {
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
  }

  const policy = { config: { rejectsImpersonation: true }, preHandler: requireLinking }

  app.get(
    '/user/identities/authorize',
    {
      ...policy,
      schema: readSchema,
    },
    async (request, reply) => {
      const now = new Date()
      const auth = bearerAuth.getAuth(request)
      await requireFreshProof(app, db, auth, { change: 'identity' }, now)
      const { user, session } = auth
      const linking = { linkingTargetId: user.id, linkingSessionId: session?.session_id }
      const query = firstValues(request.query)
      const context = readLinkContext(app, request, query)
      const bound = createStateValue(app, query)
      const authorization = { query, context, browserHash: bound?.hash, ...linking }
      const { url, ...flow } = await startAuthorization(app, authorization, now)
      if (bound) reply.header('set-cookie', stateCookie(app, flow, bound.value))
      if (query.skip_http_redirect === 'true') return { url }
      return reply.redirect(url, 302)
    },
  )

  app.delete(
    '/user/identities/:identity_id',
    {
      ...policy,
      schema: deleteSchema,
    },
    async (request) => {
      const auth = bearerAuth.getAuth(request)
      const identityId = readUuid('identity_id', request.params.identity_id)
      const unlinking = { identityId, ip: request.clientIp }
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorize(trx, auth, now)
        await unlinkIdentity(app, trx, current, unlinking, now)
      })
      return {}
    },
  )
}

export default userIdentities
