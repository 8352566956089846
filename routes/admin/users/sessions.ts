import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { noSuchSession } from '../../../errors.ts'
import { Devices, toDevice } from '../../../schemas/device.ts'
import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { requirePerson } from './person.ts'

const uuid = Type.String({ format: 'uuid' })
const Person = Type.Object({ user_id: uuid })
const Session = Type.Object({ user_id: uuid, id: uuid })
const path = '/admin/users/:user_id/sessions'

const userSessions: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, sessions } = fastify

  fastify.get(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Where a person is signed in, last used first',
        params: Person,
        response: { 200: Devices, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await requirePerson(db, params.user_id)
      const live = await sessions.list(db, user.id, new Date())
      return { sessions: live.map((session) => toDevice(session)) }
    },
  )

  fastify.delete(
    path,
    {
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
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await requirePerson(trx, request.params.user_id)
        await sessions.endAll(trx, user.id, {}, now)
        await audit.recordAdmin(trx, 'logout', request, user, { now })
      })
      return reply.status(204).send(null)
    },
  )

  fastify.delete(
    `${path}/:id`,
    {
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
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await requirePerson(trx, user_id)
        const isDeleted = await sessions.end(trx, user.id, id, now)
        if (!isDeleted) throw noSuchSession()
        await audit.recordAdmin(trx, 'logout', request, user, { now, session_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

export default userSessions
