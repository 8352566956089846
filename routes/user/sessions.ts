import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAudit } from '../../modules/audit/index.ts'
import { listSessions, revokeSession } from '../../modules/sessions/index.ts'
import { Devices, toDevice } from '../../schemas/device.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { noSuchSession } from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const SessionPath = Type.Object({ id: Type.String({ format: 'uuid' }) })

const userSessions: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    '/sessions',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the sessions of the current user, last used first',
        tags: ['user'],
        response: { 200: Devices, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user, session: current } = bearerAuth.getAuth(request)
      const live = await listSessions(app, db, user.id, new Date())
      return { sessions: live.map((session) => toDevice(session, current?.session_id)) }
    },
  )

  app.delete(
    '/sessions/:id',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'Revoke a session of the current user',
        tags: ['user'],
        params: SessionPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user } = bearerAuth.getAuth(request)
      const { params, clientIp } = request
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const isDeleted = await revokeSession(app, trx, user.id, params.id, now)
        if (!isDeleted) throw noSuchSession()
        const traits = { session_id: params.id }
        await recordAudit(audit, trx, 'logout', user, { ip: clientIp, now, traits })
      })
      return reply.status(204).send(null)
    },
  )
}

export default userSessions
