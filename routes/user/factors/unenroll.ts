import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { unenrollFactor } from '../../../modules/factors/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { FactorPath } from '../../../schemas/factor.ts'
import { readUuid } from '../../../schemas/fields.ts'

const Removed = Type.Object({ id: Type.String({ format: 'uuid' }) })

const unenroll: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.delete(
    '/factors/:factor_id',
    {
      config: { rejectsImpersonation: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Delete a factor',
        description:
          'A verified factor requires a session at aal2. Sessions that it stepped up return to aal1.',
        tags: ['mfa'],
        params: FactorPath,
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const id = readUuid('factor_id', request.params.factor_id)
      const at = { ip: request.clientIp, now: new Date() }
      await db.transaction().execute((trx) => unenrollFactor(app, trx, auth, id, at))
      return { id }
    },
  )
}

export default unenroll
