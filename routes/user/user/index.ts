import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { ChangeBody } from './changes.ts'
import { DeletionBody, deleteCurrentUser } from './deletion.ts'
import { updateCurrentUser } from './update-current-user.ts'

const user: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, rateLimits } = fastify

  fastify.get(
    '/user',
    {
      config: { isOpenWithoutFactor: true, rejectsImpersonation: false },
      schema: {
        summary: 'Get the current user',
        tags: ['user'],
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(bearerAuth.getAuth(request).user),
  )

  fastify.put(
    '/user',
    {
      // Whether impersonation is allowed depends on the body: checkProfile decides.
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: false },
      schema: {
        summary: 'Update the current user',
        description:
          'A new address or number takes effect when the link or code sent to it is verified. ' +
          'A new password revokes all other sessions.',
        tags: ['user'],
        querystring: RedirectQuery,
        body: ChangeBody,
        response: { 200: User, ...ErrorResponses },
      },
    },
    async (request) => toUser(await updateCurrentUser(fastify, request)),
  )

  fastify.delete(
    '/user',
    {
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: true },
      schema: {
        summary: 'Delete the current user',
        description:
          'Requires AUTH_USER_SELF_DELETE_ENABLED and a sign-in or second factor within the last ten minutes, the ' +
          'password, or a nonce; also aal2 for users with a second factor.',
        tags: ['user'],
        body: DeletionBody,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteCurrentUser(fastify, request)
      return reply.status(204).send(null)
    },
  )
}

export default user
