import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { listAdmins } from '../../../db/admins/admins.ts'
import type { Db } from '../../../db/core/database.ts'
import { findUser, findUserByEmail, type UserRecord } from '../../../db/users/users.ts'
import { addAdmin } from '../../../modules/admins/index.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { Admin, Admins, toAdmin } from '../../../schemas/console/admin.ts'
import { AdminRole } from '../../../schemas/console/admin-role.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { userNotFound, validationFailed } from '../../../schemas/errors.ts'
import { normalizeEmail, readUuid } from '../../../schemas/fields.ts'

const path = '/admin/admins'

const Body = Type.Object({
  user_id: Type.Optional(Type.String()),
  email: Type.Optional(Type.String({ description: 'Instead of user_id' })),
  role: AdminRole,
})

const admins: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db } = fastify

  fastify.get(
    path,
    {
      schema: {
        summary: 'List the admins, oldest first',
        tags: ['admin'],
        response: { 200: Admins, ...ErrorResponses },
      },
    },
    async () => ({ admins: (await listAdmins(db)).map(toAdmin) }),
  )

  fastify.post(
    path,
    {
      schema: {
        summary: 'Add an admin',
        tags: ['admin'],
        body: Body,
        response: { 201: Admin, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { role } = request.body
      const added = await db.transaction().execute(async (trx) => {
        const user = await findNamed(trx, request.body, request.audience)
        await bearerAuth.reauthorizeAdmin(trx, request, now, user ?? [])
        if (!user) throw userNotFound()
        const admin = await addAdmin(trx, user.id, role, now)
        await recordAdminActionOnUser(audit, trx, 'admin_added', request, user, {
          now,
          role,
          after: { role },
        })
        return admin
      })
      reply.status(201)
      return toAdmin(added)
    },
  )
}

/** Finds the user that the request names. Throws validation_failed. */
async function findNamed(
  db: Db,
  { user_id, email }: Static<typeof Body>,
  audience: string,
): Promise<UserRecord | undefined> {
  if (!user_id && !email) throw validationFailed('Send user_id or email')
  return user_id
    ? findUser(db, readUuid('user_id', user_id))
    : findUserByEmail(db, normalizeEmail(email ?? ''), audience)
}

export default admins
