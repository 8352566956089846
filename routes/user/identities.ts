import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { manualLinkingDisabled } from '../../errors.ts'
import { Empty, NoBody } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { readUuid } from '../../schemas/fields.ts'
import { firstValues, ManyQuery } from '../../schemas/query.ts'

const IdentityPath = Type.Object({ identity_id: Type.String() })

const Target = Type.Object({ url: Type.String() })

const userIdentities: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, config, db, flows, identities } = fastify

  async function requireLinking() {
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
  }

  const policy = { config: { themselves: true }, preHandler: requireLinking }

  fastify.get(
    '/user/identities/authorize',
    {
      ...policy,
      schema: {
        summary: 'Add another way to sign in: the same as /authorize, for the person of the token',
        tags: ['user'],
        querystring: ManyQuery,
        response: { 200: Target, 302: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user, session } = bearerAuth.bearerOf(request)
      const linking = { linkingTargetId: user.id, linkingSessionId: session?.session_id }
      const query = firstValues(request.query)
      const context = flows.linkContext(request, query)
      const { url } = await flows.beginOauth({ query, context, ...linking }, new Date())
      if (query.skip_http_redirect === 'true') return { url }
      return reply.redirect(url, 302)
    },
  )

  fastify.delete(
    '/user/identities/:identity_id',
    {
      ...policy,
      schema: {
        summary: 'Take away a way to sign in',
        tags: ['user'],
        params: IdentityPath,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const bearer = bearerAuth.bearerOf(request)
      const identityId = readUuid('identity_id', request.params.identity_id)
      const unlinking = { identityId, ip: request.clientIp }
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const held = await bearerAuth.hold(trx, bearer, now)
        await identities.unlink(trx, held, unlinking, now)
      })
      return {}
    },
  )
}

export default userIdentities
