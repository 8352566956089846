import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordServerRole } from '../../../modules/access/index.ts'
import { changeAdminRole, removeAdmin } from '../../../modules/admins/index.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { Admin, toAdmin } from '../../../schemas/console/admin.ts'
import { AdminRole } from '../../../schemas/console/admin-role.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const path = '/admin/admins/:user_id'

const updateSchema = {
  summary: 'Change the role of an admin',
  tags: ['admin'],
  params: UserPath,
  body: Type.Object({ role: AdminRole }),
  response: { 200: Admin, ...ErrorResponses },
}

const deleteSchema = {
  summary: 'Remove an admin',
  tags: ['admin'],
  params: UserPath,
  response: { 204: NoBody, ...ErrorResponses },
}

const admin: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.put(
    path,
    { config: { minimumRole: 'owner', givesAccess: true }, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const { role } = request.body
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { before, after } = await changeAdminRole(trx, id, role, now)
        const changes = { before: { role: before.role }, after: { role } }
        const subject = { ...after, id }
        await recordAdminActionOnUser(audit, trx, 'admin_role_changed', request, subject, {
          now,
          role,
          ...changes,
        })
        await recordServerRole(app, trx, { userId: id, role }, now)
        return toAdmin(after)
      })
    },
  )

  app.delete(
    path,
    { config: { minimumRole: 'owner' }, schema: deleteSchema },
    async (request, reply) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { role, ...removed } = await removeAdmin(trx, id)
        const traits = { now, before: { role } }
        await recordAdminActionOnUser(
          audit,
          trx,
          'admin_removed',
          request,
          { ...removed, id },
          traits,
        )
      })
      return reply.status(204).send(null)
    },
  )
}

export default admin
