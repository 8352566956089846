import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { ErrorResponses } from '../../schemas/error.ts'
import { PublicKeys } from '../../schemas/signing-key.ts'

const jwks: FastifyPluginAsyncTypebox = async (app) => {
  const { keys } = app.jwt

  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        summary: 'JSON Web Key Set for access tokens (RFC 7517)',
        tags: ['discovery'],
        response: { 200: PublicKeys, ...ErrorResponses },
      },
    },
    async (_request, reply) => {
      // A new key is published for longer than this before it signs.
      reply.header('cache-control', `public, max-age=${keys.jwksMaxAge}`)
      return keys.ring.publicKeys(new Date())
    },
  )
}

export default jwks
