import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { noAuthorization } from '../errors.ts'
import { ErrorResponses } from '../schemas/error.ts'
import { toUser, User } from '../schemas/user.ts'

const user: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/user',
    {
      preHandler: fastify.requireUser,
      schema: {
        summary: 'The person whose token this is',
        tags: ['user'],
        security: [{ bearer: [] }],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async ({ bearer }) => {
      if (!bearer) throw noAuthorization()
      return toUser(bearer.user)
    },
  )
}

export default user
