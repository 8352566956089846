import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { userNotFound } from '../../../errors.ts'
import { RecordChange, UserPath } from '../../../schemas/admin-user.ts'
import { Empty } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

const Deletion = Type.Union([
  Type.Object({
    should_soft_delete: Type.Optional(
      Type.Boolean({ description: 'Keep the row, without anything that tells who it was' }),
    ),
  }),
  Type.Null(),
])

const record: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, users } = fastify
  const schema = { tags: ['admin'], params: UserPath }
  const personResponse = { 200: User, ...ErrorResponses }

  fastify.get(
    '/admin/users/:user_id',
    {
      schema: { ...schema, summary: 'One person', response: personResponse },
    },
    async ({ params }) => {
      const user = await bearerAuth.findPerson(readUuid('user_id', params.user_id))
      if (!user) throw userNotFound()
      return toUser(user)
    },
  )

  fastify.put(
    '/admin/users/:user_id',
    {
      schema: {
        ...schema,
        summary: 'Change a person',
        description:
          'Sends no mail. A new password or another role ends every session of the person.',
        body: RecordChange,
        response: personResponse,
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const change = await users.readChange(request.body, now)
      const user = await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const { before, after } = await users.changeRecord(trx, id, change, now)
        const fields = Object.keys(request.body)
        const traits = { now, fields, ...audit.personDifference(before, after) }
        await audit.recordAdmin(trx, 'user_modified', request, after, traits)
        return after
      })
      return toUser(user)
    },
  )

  fastify.delete(
    '/admin/users/:user_id',
    {
      schema: {
        ...schema,
        summary: 'Delete a person',
        body: Deletion,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const soft = request.body?.should_soft_delete ?? false
      await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await users.remove(trx, id, { soft }, now)
        const traits = { now, soft, ...audit.personDeleted(user) }
        await audit.recordAdmin(trx, 'user_deleted', request, user, traits)
      })
      return {}
    },
  )
}

export default record
