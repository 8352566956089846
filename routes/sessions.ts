import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deleteSession } from '../db/sessions.ts'
import { noAuthorization, noSuchSession } from '../errors.ts'
import { Devices, toDevice } from '../schemas/device.ts'
import { NoBody } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'

const SessionPath = Type.Object({ id: Type.String({ format: 'uuid' }) })

const sessionsOfPerson: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, db, requireUser, sessions } = fastify

  fastify.get(
    '/sessions',
    {
      preHandler: requireUser,
      schema: {
        summary: 'Where the person is signed in, last used first',
        tags: ['user'],
        response: { 200: Devices, ...ErrorResponses },
      },
    },
    async ({ bearer }) => {
      if (!bearer) throw noAuthorization()
      const live = await sessions.list(db, bearer.user.id, new Date())
      const current = bearer.session?.session_id
      return { sessions: live.map((session) => toDevice(session, current)) }
    },
  )

  fastify.delete(
    '/sessions/:id',
    {
      preHandler: requireUser,
      schema: {
        summary: 'Sign one device out; its own session too, if it asks for that',
        tags: ['user'],
        params: SessionPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async ({ bearer, params, clientIp }, reply) => {
      if (!bearer) throw noAuthorization()
      const { user } = bearer
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const isDeleted = await deleteSession(trx, user.id, params.id)
        if (!isDeleted) throw noSuchSession()
        const traits = { session_id: params.id }
        await audit.record(trx, 'logout', user, { ip: clientIp, now, traits })
      })
      return reply.status(204).send(null)
    },
  )
}

export default sessionsOfPerson
