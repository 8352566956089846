import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { ApiError, linkExpired, unexpectedFailure, validationFailed } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'

const Query = Type.Object({
  token: Type.Optional(Type.String()),
  token_hash: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  redirect_to: Type.Optional(Type.String()),
})

const verifyLink: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, db, flows, links, rateLimits, redirects, sessions, verifications } = fastify

  fastify.get(
    '/verify',
    {
      config: { rateLimit: rateLimits.verify },
      schema: {
        summary: 'Open the link of a mail: signs the person in and sends them to the site',
        tags: ['auth'],
        querystring: Query,
        response: { 303: Type.Null(), ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { type } = request.query
      const linkToken = request.query.token || request.query.token_hash
      if (!linkToken) throw validationFailed('Verify requires a token or a token hash')
      if (!type) throw validationFailed('Verify requires a verification type')
      const target = redirects.resolve(request)
      const location = await openLink(request, { linkToken, type, target })
      return reply.header('referrer-policy', 'no-referrer').redirect(location, 303)
    },
  )

  interface OpenedLink {
    linkToken: string
    type: string
    target: string
  }

  /** Every refusal is shown by the site, which knows how to ask for a new link. */
  async function openLink(request: FastifyRequest, opened: OpenedLink): Promise<string> {
    try {
      return await spendLink(request, opened, new Date())
    } catch (thrown) {
      const error =
        thrown instanceof ApiError ? thrown : unexpectedFailure('Opening the link failed', thrown)
      if (error.status >= 500)
        request.log.error({ err: error.details.cause ?? error }, error.message)
      return redirects.withError(opened.target, error, links.isPkce(opened.linkToken))
    }
  }

  async function spendLink(
    request: FastifyRequest,
    { linkToken, type, target }: OpenedLink,
    now: Date,
  ): Promise<string> {
    const usesPkce = links.isPkce(linkToken)
    const proof = { type, linkToken, aud: config.AUTH_JWT_AUD }
    return db.transaction().execute(async (trx) => {
      const verified = await verifications.spend(trx, proof, now)
      if (verified.state === 'refused') throw linkExpired()
      if (verified.state === 'half') {
        return redirects.withMessage(target, verifications.halfDoneMessage, usesPkce)
      }
      if (usesPkce) {
        const method = links.flowMethodOf(verified.type)
        return redirects.withCode(target, await flows.issueCode(trx, verified.user.id, method, now))
      }
      const opening = { method: 'otp' as const, client: request.client }
      const session = await sessions.issue(trx, verified.user, opening, now)
      return redirects.withSession(target, session, { type: verified.type })
    })
  }
}

export default verifyLink
