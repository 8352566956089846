/** The admins of this server. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { listAdmins } from '../../../db/admins/admins.ts'
import type { Db, Trx } from '../../../db/core/database.ts'
import { findUser, findUserByEmail, type UserRecord } from '../../../db/users/users.ts'
import { hasProvenHolder, recordServerRole } from '../../../modules/access/index.ts'
import {
  addAdmin,
  changeAdminRole,
  createAdminLink,
  removeAdmin,
} from '../../../modules/admins/index.ts'
import { recordAdminAction, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { subjectUserId } from '../../../schemas/access-token.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { Admin, AdminInvitation, Admins, toAdmin } from '../../../schemas/console/admin.ts'
import { AdminRole } from '../../../schemas/console/admin-role.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { emailNotConfirmed, userNotFound, validationFailed } from '../../../schemas/errors.ts'
import { normalizeEmail, readUuid } from '../../../schemas/fields.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { toTimestamp } from '../../../schemas/values/timestamp.ts'

const path = '/admin/admins'

const Body = Type.Object({
  user_id: Type.Optional(Type.String()),
  email: Type.Optional(Type.String({ description: 'Instead of user_id' })),
  role: AdminRole,
})

const admins: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'List the admins, oldest first',
        tags: ['admin'],
        response: { 200: Admins, ...ErrorResponses },
      },
    },
    async () => ({ admins: (await listAdmins(db)).map(toAdmin) }),
  )

  app.post(
    path,
    {
      config: { minimumRole: 'owner', givesAccess: true },
      schema: {
        summary: 'Add an admin',
        description:
          'Ends the sessions of the account, with the links and codes that were not used. An address that no user has confirmed gets a one-time link instead (202), by which its holder sets a password.',
        tags: ['admin'],
        body: Body,
        response: { 201: Admin, 202: AdminInvitation, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { role } = request.body
      const added = await db.transaction().execute(async (trx) => {
        const user = await findNamed(trx, request.body, request.audience)
        await bearerAuth.reauthorizeAdmin(trx, request, now, user ?? [])
        const email = await findUnconfirmed(trx, request.body, user)
        if (email !== undefined) return inviteAdmin(app, trx, request, { email, role }, now)
        if (!user) throw userNotFound()
        const admin = await addAdmin(app, trx, { userId: user.id, role }, now)
        const traits = { now, role, after: { role } }
        await recordAdminActionOnUser(audit, trx, 'admin_added', request, user, traits)
        await recordServerRole(app, trx, { userId: user.id, role }, now)
        return toAdmin(admin)
      })
      return reply.status('link' in added ? 202 : 201).send(added)
    },
  )
}

/**
 * The address that gets a link instead of a role: no user has it, or who signed up with it has not confirmed it. Throws
 * email_not_confirmed for a user without an address.
 */
async function findUnconfirmed(
  db: Db,
  { user_id, email }: Static<typeof Body>,
  user: UserRecord | undefined,
): Promise<string | undefined> {
  if (!user) return user_id || !email ? undefined : normalizeEmail(email)
  if (await hasProvenHolder(db, user, { isNamed: Boolean(user_id) })) return undefined
  if (user.email) return user.email
  throw emailNotConfirmed('The user has confirmed neither an email address nor a phone number', 422)
}

async function inviteAdmin(
  app: FastifyInstance,
  trx: Trx,
  request: FastifyRequest,
  { email, role }: { email: string; role: AdminRole },
  now: Date,
) {
  const createdBy = subjectUserId(request.admin) ?? null
  const made = await createAdminLink(app, trx, { email, role, createdBy }, now)
  const traits = { now, role, user_email: email }
  await recordAdminAction(app.audit, trx, 'admin_invited', request, traits)
  return { email, role, link: made.link, expires_at: toTimestamp(made.expiresAt) }
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

const adminPath = '/admin/admins/:user_id'

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
    adminPath,
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
    adminPath,
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

export const adminRoutes = { admins, admin }
