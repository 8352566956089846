import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findPasskeys } from '../../../db/webauthn-credentials.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Passkeys, toPasskey } from '../../../schemas/passkey.ts'

const list: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, webauthn } = fastify
  const { passkeys } = webauthn

  fastify.get(
    '/passkeys',
    {
      onRequest: passkeys.requireEnabled,
      config: { themselves: false },
      schema: {
        summary: 'The passkeys of the person, oldest first',
        tags: ['user'],
        response: { 200: Passkeys, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user } = bearerAuth.bearerOf(request)
      return (await findPasskeys(db, user.id)).map(toPasskey)
    },
  )
}

export default list
