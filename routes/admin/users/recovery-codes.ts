import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { countRecoveryCodes, deleteRecoveryCodes } from '../../../db/recovery-codes.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { RemainingCodes } from '../../../schemas/recovery-codes.ts'
import { requirePerson } from './person.ts'

const path = '/admin/users/:user_id/factors/recovery_codes'

const recoveryCodes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db } = fastify

  fastify.get(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'How many recovery codes a person has left',
        params: UserPath,
        response: { 200: RemainingCodes, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requirePerson(db, readUuid('user_id', params.user_id))
      return { remaining: await countRecoveryCodes(db, id) }
    },
  )

  fastify.delete(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Void the recovery codes of a person',
        params: UserPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const userId = readUuid('user_id', request.params.user_id)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await requirePerson(trx, userId)
        await deleteRecoveryCodes(trx, user.id)
        await audit.recordAdmin(trx, 'recovery_codes_voided', request, user, { now })
      })
      return reply.status(204).send(null)
    },
  )
}

export default recoveryCodes
