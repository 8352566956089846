/** Sessions of a user, with those that an admin creates to act as the user. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser, isBanned } from '../../../db/users/users.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import {
  createSession,
  listSessions,
  revokeAllSessions,
  revokeSession,
  toTokenResponse,
} from '../../../modules/sessions/index.ts'
import { type AccessTokenClaims, subjectUserId } from '../../../schemas/access-token.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { Devices, toDevice } from '../../../schemas/device.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  featureDisabled,
  noSuchSession,
  userBanned,
  userNotFound,
} from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const uuid = Type.String({ format: 'uuid' })
const UserParams = Type.Object({ user_id: uuid })
const SessionPath = Type.Object({ user_id: uuid, id: uuid })
const path = '/admin/users/:user_id/sessions'

const readSchema = {
  tags: ['admin'],
  summary: 'List the sessions of a user, last used first',
  params: UserParams,
  response: { 200: Devices, ...ErrorResponses },
}

const deleteAllSchema = {
  tags: ['admin'],
  summary: 'Revoke all sessions of a user',
  params: UserParams,
  response: { 204: NoBody, ...ErrorResponses },
}

const deleteOneSchema = {
  tags: ['admin'],
  summary: 'Revoke a session of a user',
  params: SessionPath,
  response: { 204: NoBody, ...ErrorResponses },
}

const sessions: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, async ({ params }) => {
    const user = await requireUserParam(db, params.user_id)
    const live = await listSessions(app, db, user.id, new Date())
    return { sessions: live.map((session) => toDevice(session)) }
  })

  app.delete(
    path,
    { config: { minimumRole: 'operator' }, schema: deleteAllSchema },
    async (request, reply) => {
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await requireUserParam(trx, request.params.user_id)
        await revokeAllSessions(app, trx, user.id, {}, now)
        await recordAdminActionOnUser(audit, trx, 'logout', request, user, { now })
      })
      return reply.status(204).send(null)
    },
  )

  app.delete(
    `${path}/:id`,
    { config: { minimumRole: 'operator' }, schema: deleteOneSchema },
    async (request, reply) => {
      const { user_id, id } = request.params
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await requireUserParam(trx, user_id)
        const isDeleted = await revokeSession(app, trx, user.id, id, now)
        if (!isDeleted) throw noSuchSession()
        await recordAdminActionOnUser(audit, trx, 'logout', request, user, { now, session_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

const ImpersonationBody = Type.Union([
  Type.Object({
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'For the audit log' })),
  }),
  Type.Null(),
])

const impersonate: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app

  app.post(
    '/admin/users/:user_id/impersonate',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Impersonate a user: create a short session',
        description:
          'Requires AUTH_ADMIN_IMPERSONATION_ENABLED. Access tokens name the admin in `act` and are rejected by admin endpoints; ' +
          'the audit log and the device list of the user show the session.',
        tags: ['admin'],
        params: UserPath,
        body: ImpersonationBody,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      if (!config.AUTH_ADMIN_IMPERSONATION_ENABLED) {
        throw featureDisabled('Impersonation is disabled (AUTH_ADMIN_IMPERSONATION_ENABLED)')
      }
      const id = readUuid('user_id', request.params.user_id)
      const { clientInfo, body } = request
      const authentication = {
        method: 'impersonation' as const,
        clientInfo,
        lifetimeSeconds: config.AUTH_ADMIN_IMPERSONATION_EXP,
        impersonatedBy: getAdminName(request.admin),
      }
      const opened = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await findUser(trx, id)
        if (!user || user.deleted_at) throw userNotFound()
        if (isBanned(user, now)) throw userBanned(403)
        const traits = { now, ...(body?.reason && { reason: body.reason }) }
        await recordAdminActionOnUser(audit, trx, 'user_impersonated', request, user, traits)
        return createSession(app, trx, user, authentication, now)
      })
      return toTokenResponse(app, opened, now)
    },
  )
}

/** A service token is named by its role, as in the audit log. */
function getAdminName(admin: AccessTokenClaims | null): string {
  return subjectUserId(admin) || admin?.role || 'admin'
}

export const sessionRoutes = { sessions, impersonate }
