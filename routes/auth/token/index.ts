import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyRequest } from 'fastify'

import { checkEnabled } from '../../../modules/web3/index.ts'
import { choices, needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { ApiError, unsupportedGrantType } from '../../../schemas/errors.ts'
import { Session } from '../../../schemas/session.ts'
import { TokenRequest } from '../../../schemas/token-request.ts'
import type { GrantHandler } from './grant.ts'
import { idTokenGrant } from './id-token.ts'
import { passwordGrant } from './password.ts'
import { pkceGrant } from './pkce.ts'
import { refreshTokenGrant } from './refresh-token.ts'
import { web3Grant } from './web3.ts'

const Query = Type.Object({
  grant_type: Type.Optional(
    Type.String({ ...needed, ...choices('password', 'refresh_token', 'pkce', 'id_token', 'web3') }),
  ),
})

/** Grants whose token can only come from an earlier sign-in with a captcha. */
const withoutCaptcha = ['refresh_token', 'pkce', 'id_token']

const token: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, rateLimits, telemetry } = fastify
  const grants = new Map<string, GrantHandler>([
    ['password', passwordGrant(fastify)],
    ['refresh_token', refreshTokenGrant(fastify)],
    ['pkce', pkceGrant(fastify)],
    ['id_token', idTokenGrant(fastify)],
    ['web3', web3Grant(fastify)],
  ])

  /** The label of the rate limit; unknown grant types share one. */
  function getGrant({ query }: FastifyRequest): string {
    const grantType = Value.Check(Query, query) ? query.grant_type : undefined
    return grantType !== undefined && grants.has(grantType) ? grantType : 'unknown'
  }

  fastify.post(
    '/token',
    {
      preValidation: async (request: FastifyRequest<{ Querystring: { grant_type?: string } }>) => {
        const { grant_type = '' } = request.query
        if (!withoutCaptcha.includes(grant_type)) await captcha.requireCaptcha(request)
        if (grant_type === 'web3') checkEnabled(fastify)
        if (!grants.has(grant_type)) throw unsupportedGrantType()
      },
      config: { rateLimit: rateLimits.token, signIn: getGrant },
      schema: {
        summary: 'Token endpoint (RFC 6749)',
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
        const outcome = isServerError(error) ? 'failed' : 'rejected'
        telemetry.metrics.count('postern.sign_ins', { method: grant_type, outcome })
        throw error
      }
    },
  )
}

function isServerError(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500
}

export default token
