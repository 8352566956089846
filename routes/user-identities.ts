import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { manualLinkingDisabled, noAuthorization, validationFailed } from '../errors.ts'
import { Empty, NoBody } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'
import { isUuid } from '../schemas/fields.ts'
import { firstValues, ManyQuery } from '../schemas/query.ts'

const IdentityPath = Type.Object({ identity_id: Type.String() })

const Target = Type.Object({ url: Type.String() })

const userIdentities: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, db, externalFlows, identities, requireThemselves, requireUser } = fastify

  async function requireLinking() {
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
  }

  const policy = { preHandler: [requireUser, requireThemselves, requireLinking] }

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
      if (!request.bearer) throw noAuthorization()
      const query = firstValues(request.query)
      const url = await externalFlows.begin(request, query, new Date(), request.bearer.user.id)
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
    async ({ bearer, params, clientIp: ip }) => {
      if (!bearer) throw noAuthorization()
      const { identity_id: identityId } = params
      if (!isUuid(identityId)) throw validationFailed('identity_id must be an UUID', 404)
      const unlinking = { userId: bearer.user.id, identityId, ip }
      const now = new Date()
      await db.transaction().execute((trx) => identities.unlink(trx, unlinking, now))
      return {}
    },
  )
}

export default userIdentities
