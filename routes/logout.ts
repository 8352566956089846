import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deleteSession, deleteSessions } from '../db/sessions.ts'
import { noAuthorization, validationFailed } from '../errors.ts'
import { NoBody } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'

const Query = Type.Object({
  scope: Type.Optional(
    Type.String({ description: 'global (default), local or others', default: 'global' }),
  ),
})

const logout: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, db } = fastify

  fastify.post(
    '/logout',
    {
      preHandler: fastify.requireUser,
      schema: {
        summary: 'End this session, the others, or all of them',
        tags: ['user'],
        querystring: Query,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { bearer, clientIp } = request
      if (!bearer) throw noAuthorization()
      const { user, session } = bearer
      const { scope = 'global' } = request.query
      if (!['global', 'local', 'others'].includes(scope)) {
        throw validationFailed(`Unsupported logout scope "${scope}"`)
      }
      const now = new Date()

      await db.transaction().execute(async (trx) => {
        await audit.record(trx, 'logout', user, { ip: clientIp, now })
        // A token without a session can only mean all of them.
        if (!session || scope === 'global') return deleteSessions(trx, user.id)
        if (scope === 'others') return deleteSessions(trx, user.id, session.session_id)
        await deleteSession(trx, user.id, session.session_id)
      })
      return reply.status(204).send(null)
    },
  )
}

export default logout
