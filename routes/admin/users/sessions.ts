import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { listSessions, revokeAllSessions, revokeSession } from '../../../modules/sessions/index.ts'
import { Devices, toDevice } from '../../../schemas/device.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { noSuchSession } from '../../../schemas/errors.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const uuid = Type.String({ format: 'uuid' })
const UserParams = Type.Object({ user_id: uuid })
const Session = Type.Object({ user_id: uuid, id: uuid })
const path = '/admin/users/:user_id/sessions'

const readSchema = {
  tags: ['admin'],
  summary: 'List the sessions of a user, last used first',
  params: UserParams,
  response: { 200: Devices, ...ErrorResponses },
}

const deleteAllSchema = {
  tags: ['admin'],
  summary: 'Revoke all sessions of a user',
  params: UserParams,
  response: { 204: NoBody, ...ErrorResponses },
}

const deleteOneSchema = {
  tags: ['admin'],
  summary: 'Revoke a session of a user',
  params: Session,
  response: { 204: NoBody, ...ErrorResponses },
}

const userSessions: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, async ({ params }) => {
    const user = await requireUserParam(db, params.user_id)
    const live = await listSessions(app, db, user.id, new Date())
    return { sessions: live.map((session) => toDevice(session)) }
  })

  app.delete(
    path,
    { config: { minimumRole: 'operator' }, schema: deleteAllSchema },
    async (request, reply) => {
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await requireUserParam(trx, request.params.user_id)
        await revokeAllSessions(app, trx, user.id, {}, now)
        await recordAdminActionOnUser(audit, trx, 'logout', request, user, { now })
      })
      return reply.status(204).send(null)
    },
  )

  app.delete(
    `${path}/:id`,
    { config: { minimumRole: 'operator' }, schema: deleteOneSchema },
    async (request, reply) => {
      const { user_id, id } = request.params
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await requireUserParam(trx, user_id)
        const isDeleted = await revokeSession(app, trx, user.id, id, now)
        if (!isDeleted) throw noSuchSession()
        await recordAdminActionOnUser(audit, trx, 'logout', request, user, { now, session_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

export default userSessions
