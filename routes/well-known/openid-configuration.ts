import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { ErrorResponses } from '../../schemas/error.ts'

const Words = Type.Array(Type.String())

/** OpenID Connect Discovery 1.0 §3. */
const Metadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.String(),
  scopes_supported: Words,
  response_types_supported: Words,
  response_modes_supported: Words,
  grant_types_supported: Words,
  subject_types_supported: Words,
  id_token_signing_alg_values_supported: Words,
  token_endpoint_auth_methods_supported: Words,
  claims_supported: Words,
  code_challenge_methods_supported: Words,
})

const openidConfiguration: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, jwt } = fastify
  // An issuer need not be an address of ours; what can be fetched has to be.
  const base = config.AUTH_API_EXTERNAL_URL

  fastify.get(
    '/.well-known/openid-configuration',
    {
      schema: {
        summary: 'Where tokens come from and how to verify them',
        tags: ['discovery'],
        response: { 200: Metadata, ...ErrorResponses },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${jwt.keys.jwksMaxAge}`)
      return {
        issuer: jwt.issuer,
        authorization_endpoint: `${base}/oauth/authorize`,
        token_endpoint: `${base}/oauth/token`,
        jwks_uri: `${base}/.well-known/jwks.json`,
        userinfo_endpoint: `${base}/oauth/userinfo`,
        scopes_supported: ['openid', 'profile', 'email', 'phone', 'offline_access'],
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: jwt.keys.ring.algorithms(new Date()),
        token_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'none',
        ],
        claims_supported,
        code_challenge_methods_supported: ['S256', 'plain'],
      }
    },
  )
}

const claims_supported = [
  'sub',
  'aud',
  'iss',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'email',
  'email_verified',
  'phone_number',
  'phone_number_verified',
  'name',
  'picture',
  'preferred_username',
  'updated_at',
]

export default openidConfiguration
