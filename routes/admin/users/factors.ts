import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listFactors } from '../../../db/factors-admin.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Factor, toFactor } from '../../../schemas/user.ts'
import { requirePerson } from './person.ts'

const Factors = Type.Array(Factor)

const factors: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.get(
    '/admin/users/:user_id/factors',
    {
      schema: {
        tags: ['admin'],
        summary: 'The second factors of a person',
        params: UserPath,
        response: { 200: Factors, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requirePerson(db, readUuid('user_id', params.user_id))
      return (await listFactors(db, id)).map(toFactor)
    },
  )
}

export default factors
