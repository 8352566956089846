import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listFactors } from '../../../db/factors/admin.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Factor, toFactor } from '../../../schemas/user.ts'
import { requireUserParam } from './user-param.ts'

const Factors = Type.Array(Factor)

const factors: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/users/:user_id/factors',
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'List the factors of a user',
        params: UserPath,
        response: { 200: Factors, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      return (await listFactors(db, id)).map(toFactor)
    },
  )
}

export default factors
