import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findDeactivatedAt } from '../../../db/scim/deactivation.ts'
import {
  changedUserFields,
  deletedUserDetails,
  recordAdminActionOnUser,
} from '../../../modules/audit/index.ts'
import {
  deleteUserAsAdmin,
  readAdminChange,
  updateUserAsAdmin,
} from '../../../modules/users/index.ts'
import { AdminUser, RecordChange, toAdminUser, UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { userNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { EmptyObject } from '../../../schemas/values/empty.ts'

const Deletion = Type.Union([
  Type.Object({
    should_soft_delete: Type.Optional(
      Type.Boolean({ description: 'Keep the row without personal data' }),
    ),
  }),
  Type.Null(),
])

const schema = { tags: ['admin'], params: UserPath }

const userResponse = { 200: AdminUser, ...ErrorResponses }

const readSchema = { ...schema, summary: 'Get a user', response: userResponse }

const updateSchema = {
  ...schema,
  summary: 'Update a user',
  description: 'No email is sent. A new password or role revokes every session of the user.',
  body: RecordChange,
  response: userResponse,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete a user',
  body: Deletion,
  response: { 200: EmptyObject, ...ErrorResponses },
}

const record: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db, users } = fastify

  /** Without SCIM, no account is rejected for its deactivation. */
  async function readDeactivation(id: string): Promise<Date | undefined> {
    return config.AUTH_EXPERIMENTAL_SCIM_ENABLED ? findDeactivatedAt(db, id) : undefined
  }

  fastify.get('/admin/users/:user_id', { schema: readSchema }, async ({ params }) => {
    const id = readUuid('user_id', params.user_id)
    const [user, deactivatedAt] = await Promise.all([
      bearerAuth.findUserById(id),
      readDeactivation(id),
    ])
    if (!user) throw userNotFound()
    return toAdminUser(user, deactivatedAt)
  })

  fastify.put('/admin/users/:user_id', { schema: updateSchema }, async (request) => {
    const now = new Date()
    const id = readUuid('user_id', request.params.user_id)
    const change = await readAdminChange(users, request.body, now)
    const user = await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      bearerAuth.checkGrantedRole(request, change.role)
      const { before, after } = await updateUserAsAdmin(users, trx, id, change, now)
      const fields = Object.keys(request.body)
      const traits = { now, fields, ...changedUserFields(before, after) }
      await recordAdminActionOnUser(audit, trx, 'user_modified', request, after, traits)
      return after
    })
    return toAdminUser(user, await readDeactivation(id))
  })

  fastify.delete('/admin/users/:user_id', { schema: deleteSchema }, async (request) => {
    const now = new Date()
    const id = readUuid('user_id', request.params.user_id)
    const soft = request.body?.should_soft_delete ?? false
    await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const user = await deleteUserAsAdmin(users, trx, id, { soft, namesConstraint: true }, now)
      const traits = { now, soft, ...deletedUserDetails(user) }
      await recordAdminActionOnUser(audit, trx, 'user_deleted', request, user, traits)
    })
    return {}
  })
}

export default record
