import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findDeactivatedAt } from '../../../db/scim/deactivation.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import {
  recordPreparation,
  recordServerRole,
  requireProvenHolder,
} from '../../../modules/access/index.ts'
import { voidSentLinks } from '../../../modules/admins/index.ts'
import {
  changedUserFields,
  deletedUserDetails,
  recordAdminActionOnUser,
} from '../../../modules/audit/index.ts'
import {
  deleteUserAsAdmin,
  lockUserById,
  readAdminChange,
  updateUserAsAdmin,
} from '../../../modules/users/index.ts'
import { subjectUserId } from '../../../schemas/access-token.ts'
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
  description:
    'A new password or role revokes every session of the user. A role of AUTH_JWT_ADMIN_ROLES needs an address that the holder has confirmed, and is told to the user and to the owners of the server.',
  body: RecordChange,
  response: userResponse,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete a user',
  body: Deletion,
  response: { 200: EmptyObject, ...ErrorResponses },
}

const user: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    '/admin/users/:user_id',
    { config: { minimumRole: 'support' }, schema: readSchema },
    async ({ params }) => {
      const id = readUuid('user_id', params.user_id)
      const [user, deactivatedAt] = await Promise.all([
        bearerAuth.findUserById(id),
        readDeactivation(app, id),
      ])
      if (!user) throw userNotFound()
      return toAdminUser(user, deactivatedAt)
    },
  )

  app.put(
    '/admin/users/:user_id',
    { config: { minimumRole: 'operator', givesAccess: true }, schema: updateSchema },
    async (request) => updateUser(app, request),
  )

  app.delete(
    '/admin/users/:user_id',
    { config: { minimumRole: 'operator' }, schema: deleteSchema },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const soft = request.body?.should_soft_delete ?? false
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await deleteUserAsAdmin(app, trx, id, { soft, namesConstraint: true }, now)
        const traits = { now, soft, ...deletedUserDetails(user) }
        await recordAdminActionOnUser(audit, trx, 'user_deleted', request, user, traits)
      })
      return {}
    },
  )
}

/** Without SCIM, no account is rejected for its deactivation. */
async function readDeactivation(
  { config, db }: FastifyInstance,
  id: string,
): Promise<Date | undefined> {
  return config.AUTH_EXPERIMENTAL_SCIM_ENABLED ? findDeactivatedAt(db, id) : undefined
}

async function updateUser(
  app: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof UserPath>; Body: RecordChange }>,
) {
  const { audit, bearerAuth, db } = app
  const now = new Date()
  const id = readUuid('user_id', request.params.user_id)
  const change = await readAdminChange(app, request.body, now)
  const user = await db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    bearerAuth.checkGrantedRole(request, change.role)
    const wanted = { ...change, isOwn: subjectUserId(request.admin) === id }
    const { before, after } = await updateUserAsAdmin(app, trx, id, wanted, now)
    const isStatement = change.confirmsEmail || change.confirmsPhone
    await recordPreparation(trx, request, { before, after, isStatement }, now)
    const isPromoted = await recordPromotion(app, trx, { before, after }, now)
    const fields = Object.keys(request.body)
    const traits = { now, fields, ...changedUserFields(before, after) }
    await recordAdminActionOnUser(audit, trx, 'user_modified', request, after, traits)
    return isPromoted ? lockUserById(trx, id) : after
  })
  return toAdminUser(user, await readDeactivation(app, id))
}

/** Whether the change gave the account a role of AUTH_JWT_ADMIN_ROLES. Throws email_not_confirmed. */
async function recordPromotion(
  app: FastifyInstance,
  trx: Trx,
  { before, after }: Record<'before' | 'after', UserRecord>,
  now: Date,
): Promise<boolean> {
  const { id: userId, role } = after
  if (!role || role === before.role || !app.bearerAuth.adminRoles.includes(role)) return false
  await requireProvenHolder(trx, after, { isNamed: true })
  await voidSentLinks(trx, userId, now)
  await recordServerRole(app, trx, { userId, role }, now)
  return true
}

export default user
