import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deleteSession, deleteSessions } from '../../db/sessions.ts'
import { findUser } from '../../db/users.ts'
import { noSuchSession, userNotFound } from '../../errors.ts'
import { Devices, toDevice } from '../../schemas/device.ts'
import { NoBody } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'

const uuid = Type.String({ format: 'uuid' })
const Person = Type.Object({ user_id: uuid })
const Session = Type.Object({ user_id: uuid, id: uuid })
const path = '/admin/users/:user_id/sessions'

const userSessions: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, db, requireAdmin: onRequest, sessions } = fastify

  fastify.get(
    path,
    {
      onRequest,
      schema: {
        tags: ['admin'],
        summary: 'Where a person is signed in, last used first',
        params: Person,
        response: { 200: Devices, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await findUser(db, params.user_id)
      if (!user) throw userNotFound()
      const live = await sessions.list(db, user.id, new Date())
      return { sessions: live.map((session) => toDevice(session)) }
    },
  )

  fastify.delete(
    path,
    {
      onRequest,
      schema: {
        tags: ['admin'],
        summary: 'Sign a person out everywhere',
        params: Person,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const user = await findUser(trx, request.params.user_id)
        if (!user) throw userNotFound()
        await deleteSessions(trx, user.id)
        await adminTrail.record(trx, 'logout', request, user, { now })
      })
      return reply.status(204).send(null)
    },
  )

  fastify.delete(
    `${path}/:id`,
    {
      onRequest,
      schema: {
        tags: ['admin'],
        summary: 'Sign one device of a person out',
        params: Session,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user_id, id } = request.params
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const user = await findUser(trx, user_id)
        if (!user) throw userNotFound()
        const isDeleted = await deleteSession(trx, user.id, id)
        if (!isDeleted) throw noSuchSession()
        await adminTrail.record(trx, 'logout', request, user, { now, session_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

export default userSessions
