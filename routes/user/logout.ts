import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAudit } from '../../modules/audit/index.ts'
import { revokeAllSessions, revokeSession } from '../../modules/sessions/index.ts'
import { choices } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Query = Type.Object({
  scope: Type.Optional(Type.String({ default: 'global', ...choices('global', 'local', 'others') })),
})

const logout: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/logout',
    {
      config: { isOpenWithoutFactor: true, rejectsImpersonation: false },
      schema: {
        summary: 'Sign out: revoke this session, the others, or all',
        tags: ['user'],
        querystring: Query,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user, session } = bearerAuth.getAuth(request)
      const scope = request.query.scope || 'global'
      if (!['global', 'local', 'others'].includes(scope)) {
        throw validationFailed(`Unsupported logout scope "${scope}"`)
      }
      const now = new Date()

      await db.transaction().execute(async (trx) => {
        await recordAudit(audit, trx, 'logout', user, { ip: request.clientIp, now })
        // A token without a session can only mean all of them.
        if (!session || scope === 'global') {
          return revokeAllSessions(app, trx, user.id, { keepsConsents: true }, now)
        }
        const { session_id: except } = session
        if (scope === 'others') return revokeAllSessions(app, trx, user.id, { except }, now)
        await revokeSession(app, trx, user.id, except, now)
      })
      return reply.status(204).send(null)
    },
  )
}

export default logout
