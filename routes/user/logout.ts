import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { validationFailed } from '../../errors.ts'
import { NoBody } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'

const Query = Type.Object({
  scope: Type.Optional(
    Type.String({ description: 'global (default), local or others', default: 'global' }),
  ),
})

const logout: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, sessions } = fastify

  fastify.post(
    '/logout',
    {
      config: { isOpenWithoutFactor: true, themselves: false },
      schema: {
        summary: 'End this session, the others, or all of them',
        tags: ['user'],
        querystring: Query,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user, session } = bearerAuth.bearerOf(request)
      const scope = request.query.scope || 'global'
      if (!['global', 'local', 'others'].includes(scope)) {
        throw validationFailed(`Unsupported logout scope "${scope}"`)
      }
      const now = new Date()

      await db.transaction().execute(async (trx) => {
        await audit.record(trx, 'logout', user, { ip: request.clientIp, now })
        // A token without a session can only mean all of them.
        if (!session || scope === 'global') return sessions.endAll(trx, user.id, {}, now)
        const { session_id: except } = session
        if (scope === 'others') return sessions.endAll(trx, user.id, { except }, now)
        await sessions.end(trx, user.id, except, now)
      })
      return reply.status(204).send(null)
    },
  )
}

export default logout
