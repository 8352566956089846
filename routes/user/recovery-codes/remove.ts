import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { removeRecoveryCodes } from '../../../modules/factors/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'

const Removed = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Of the factor' }) },
  { title: 'RecoveryCodesRemoved' },
)

const remove: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.delete(
    '/factors/recovery-codes',
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Delete all recovery codes',
        description:
          'Requires a session at aal2. Sessions that one of them stepped up to aal2 return to aal1.',
        tags: ['mfa'],
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const at = { ip: request.clientIp, now: new Date() }
      const id = await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorizeSession(trx, auth, at.now)
        return removeRecoveryCodes(app, trx, current, at)
      })
      return { id }
    },
  )
}

export default remove
