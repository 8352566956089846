import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findPasskeys } from '../../../db/passkeys/credentials.ts'
import { requirePasskeysEnabled } from '../../../modules/passkeys/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Passkeys, toPasskey } from '../../../schemas/passkey.ts'

const list: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, passkeys } = fastify

  fastify.get(
    '/passkeys',
    {
      onRequest: () => requirePasskeysEnabled(passkeys),
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the passkeys of the current user, oldest first',
        tags: ['user'],
        response: { 200: Passkeys, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user } = bearerAuth.getAuth(request)
      return (await findPasskeys(db, user.id)).map(toPasskey)
    },
  )
}

export default list
