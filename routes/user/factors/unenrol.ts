import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { ErrorResponses } from '../../../schemas/error.ts'
import { FactorPath } from '../../../schemas/factor.ts'
import { readUuid } from '../../../schemas/fields.ts'

const Removed = Type.Object({ id: Type.String({ format: 'uuid' }) })

const unenrol: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, factors } = fastify

  fastify.delete(
    '/factors/:factor_id',
    {
      config: { themselves: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Remove a second factor',
        description:
          'A verified one needs a session at aal2. Sessions that it had raised fall back to aal1.',
        tags: ['mfa'],
        params: FactorPath,
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const member = bearerAuth.memberOf(request)
      const id = readUuid('factor_id', request.params.factor_id)
      const at = { ip: request.clientIp, now: new Date() }
      await db.transaction().execute((trx) => factors.unenrol(trx, member, id, at))
      return { id }
    },
  )
}

export default unenrol
