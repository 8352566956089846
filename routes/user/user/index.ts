import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { changeThemselves } from './change-themselves.ts'
import { ChangeBody } from './changes.ts'
import { DeletionBody, deleteThemselves } from './deletion.ts'

const user: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, rateLimits } = fastify

  fastify.get(
    '/user',
    {
      config: { isOpenWithoutFactor: true, themselves: false },
      schema: {
        summary: 'The person whose token this is',
        tags: ['user'],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(bearerAuth.bearerOf(request).user),
  )

  fastify.put(
    '/user',
    {
      // What of it is for the person alone depends on the body: checkProfile refuses that.
      config: { rateLimit: rateLimits.otp, themselves: false },
      schema: {
        summary: 'Change address, password or metadata',
        description:
          'Another address or number counts when the link or code sent to it is confirmed. ' +
          'A new password ends all other sessions.',
        tags: ['user'],
        querystring: RedirectQuery,
        body: ChangeBody,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(await changeThemselves(fastify, request)),
  )

  fastify.delete(
    '/user',
    {
      config: { rateLimit: rateLimits.otp, themselves: true },
      schema: {
        summary: 'Delete the account of the person whose token this is',
        description:
          'Off unless AUTH_USER_SELF_DELETE_ENABLED. Needs a sign-in or a second factor of the last ten minutes, the ' +
          'password, or a nonce; and aal2 of people with a second factor.',
        tags: ['user'],
        body: DeletionBody,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteThemselves(fastify, request)
      return reply.status(204).send(null)
    },
  )
}

export default user
