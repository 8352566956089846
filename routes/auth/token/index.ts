import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyRequest } from 'fastify'

import { ApiError, unsupportedGrantType, web3ProviderDisabled } from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Session } from '../../../schemas/session.ts'
import { TokenRequest } from '../../../schemas/token-request.ts'
import type { Grant } from './grant.ts'
import { idTokenGrant } from './id-token.ts'
import { passwordGrant } from './password.ts'
import { pkceGrant } from './pkce.ts'
import { refreshTokenGrant } from './refresh-token.ts'

const Query = Type.Object({
  grant_type: Type.Optional(
    Type.String({ description: 'password, refresh_token, pkce or id_token' }),
  ),
})

/** These present something that only a person who passed a captcha before can have. */
const withoutCaptcha = ['refresh_token', 'pkce', 'id_token']

const token: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, rateLimits, telemetry } = fastify
  const grants = new Map<string, Grant>([
    ['password', passwordGrant(fastify)],
    ['refresh_token', refreshTokenGrant(fastify)],
    ['pkce', pkceGrant(fastify)],
    ['id_token', idTokenGrant(fastify)],
  ])

  /** As it is counted: what is no grant of ours is one thing. */
  function grantOf({ query }: FastifyRequest): string {
    const asked = Value.Check(Query, query) ? query.grant_type : undefined
    return asked !== undefined && grants.has(asked) ? asked : 'unknown'
  }

  fastify.post(
    '/token',
    {
      preValidation: async (request: FastifyRequest<{ Querystring: { grant_type?: string } }>) => {
        const { grant_type = '' } = request.query
        if (!withoutCaptcha.includes(grant_type)) await captcha.requireCaptcha(request)
        if (grant_type === 'web3') throw web3ProviderDisabled()
        if (!grants.has(grant_type)) throw unsupportedGrantType()
      },
      config: { rateLimit: rateLimits.token, signIn: grantOf },
      schema: {
        summary: 'Exchange a proof for a session (RFC 6749)',
        tags: ['auth'],
        querystring: Query,
        body: TokenRequest,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const { grant_type = '' } = request.query
      const grant = grants.get(grant_type)
      if (!grant) throw unsupportedGrantType()
      try {
        return await grant(request.body, request, new Date())
      } catch (error) {
        const outcome = isOurFault(error) ? 'failed' : 'refused'
        telemetry.metrics.count('postern.sign_ins', { method: grant_type, outcome })
        throw error
      }
    },
  )
}

function isOurFault(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500
}

export default token
