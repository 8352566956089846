import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser } from '../../../db/users.ts'
import { userNotFound, validationFailed } from '../../../errors.ts'
import { RecordChange, UserPath } from '../../../schemas/admin-user.ts'
import { Empty } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { isUuid } from '../../../schemas/fields.ts'
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
  const { adminTrail, db, requireAdmin, userRecords } = fastify
  const schema = { tags: ['admin'], params: UserPath }
  const personResponse = { 200: User, ...ErrorResponses }

  fastify.get(
    '/admin/users/:user_id',
    {
      onRequest: requireAdmin,
      schema: { ...schema, summary: 'One person', response: personResponse },
    },
    async ({ params }) => {
      const user = await findUser(db, readId(params.user_id))
      if (!user) throw userNotFound()
      return toUser(user)
    },
  )

  fastify.put(
    '/admin/users/:user_id',
    {
      onRequest: requireAdmin,
      schema: {
        ...schema,
        summary: 'Change a person',
        description: 'Sends no mail. A new password ends every session of the person.',
        body: RecordChange,
        response: personResponse,
      },
    },
    async (request) => {
      const now = new Date()
      const id = readId(request.params.user_id)
      const change = await userRecords.readChange(request.body, now)
      const user = await db.transaction().execute(async (trx) => {
        const changed = await userRecords.change(trx, id, change, now)
        const fields = Object.keys(request.body)
        await adminTrail.record(trx, 'user_modified', request, changed, { now, fields })
        return changed
      })
      return toUser(user)
    },
  )

  fastify.delete(
    '/admin/users/:user_id',
    {
      onRequest: requireAdmin,
      schema: {
        ...schema,
        summary: 'Delete a person',
        body: Deletion,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readId(request.params.user_id)
      const soft = request.body?.should_soft_delete ?? false
      await db.transaction().execute(async (trx) => {
        const user = await userRecords.remove(trx, id, { soft }, now)
        await adminTrail.record(trx, 'user_deleted', request, user, { now, soft })
      })
      return {}
    },
  )
}

function readId(id: string): string {
  if (!isUuid(id)) throw validationFailed('user_id must be an UUID', 404)
  return id
}

export default record
