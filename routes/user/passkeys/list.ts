import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findPasskeys } from '../../../db/passkeys/credentials.ts'
import { requirePasskeysEnabled } from '../../../modules/passkeys/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { Passkeys, toPasskey } from '../../../schemas/passkey.ts'

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/passkeys',
    {
      onRequest: () => requirePasskeysEnabled(app),
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
