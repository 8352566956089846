/** Actions of the console on users: on several at once, and an email to one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import pLimit from 'p-limit'

import { isBanned, type UserRecord } from '../../../db/users/users.ts'
import { authorizeAccess } from '../../../modules/access/index.ts'
import {
  type AuditAction,
  changedUserFields,
  deletedUserDetails,
  recordAdminActionOnUser,
} from '../../../modules/audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../../modules/emails/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import {
  deleteUserAsAdmin,
  lockUserById,
  readAdminChange,
  updateUserAsAdmin,
} from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { ApiError, userBanned, validationFailed } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'
import { EmptyObject } from '../../../schemas/values/empty.ts'

const BulkBody = Type.Object({
  action: StringEnum(['ban', 'unban', 'delete']),
  ids: Type.Array(Type.String(), { minItems: 1, maxItems: 1000 }),
  ban_duration: Type.Optional(Type.String({ description: 'For ban, such as 24h' })),
  should_soft_delete: Type.Optional(Type.Boolean({ description: 'For delete' })),
})

const Outcome = Type.Object({
  done: Type.Array(Type.String({ format: 'uuid' })),
  failed: Type.Array(
    Type.Object({ id: Type.String(), error_code: Type.String(), msg: Type.String() }),
  ),
})

/** Each user is one transaction; more concurrent ones would take connections from sign-ins. */
const concurrency = 4

const bulkSchema = {
  summary: 'Ban or delete several users',
  description: 'Users are processed individually: failed ones are returned with the reason.',
  tags: ['admin'],
  body: BulkBody,
  response: { 200: Outcome, ...ErrorResponses },
}

const bulk: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/admin/users/bulk',
    { config: { minimumRole: 'operator' }, schema: bulkSchema },
    async (request) => {
      const now = new Date()
      // As PUT /admin/users/{user_id}; a ban and a deletion take access away.
      if (request.body.action === 'unban') await authorizeAccess(app, request, now)
      const work = workFor(request, request.body, now)
      const limit = pLimit(concurrency)
      const ids = [...new Set(request.body.ids.map((id) => readUuid('ids', id)))]
      const results = await Promise.all(ids.map((id) => limit(() => attempt(id, work))))
      return {
        done: results.flatMap((result) => (typeof result === 'string' ? [result] : [])),
        failed: results.flatMap((result) => (typeof result === 'string' ? [] : [result])),
      }
    },
  )

  type Work = (id: string) => Promise<void>

  /** Throws validation_failed for a ban without a duration. */
  function workFor(
    request: FastifyRequest,
    { action, ban_duration, should_soft_delete: soft = false }: Static<typeof BulkBody>,
    now: Date,
  ): Work {
    if (action === 'delete') return (id) => remove(request, id, soft, now)
    if (action === 'ban' && !ban_duration) {
      throw validationFailed('Send ban_duration, such as 24h, to ban users')
    }
    const change = { ban_duration: action === 'ban' ? ban_duration : 'none' }
    return (id) => changeBan(request, id, change.ban_duration ?? 'none', now)
  }

  async function changeBan(request: FastifyRequest, id: string, duration: string, now: Date) {
    const banned = await readAdminChange(app, { ban_duration: duration }, now)
    const change = { ...banned, isOwn: false }
    await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now, { id })
      const { before, after } = await updateUserAsAdmin(app, trx, id, change, now)
      const traits = { now, fields: ['ban_duration'], ...changedUserFields(before, after) }
      await recordAdminActionOnUser(audit, trx, 'user_modified', request, after, traits)
    })
  }

  async function remove(request: FastifyRequest, id: string, soft: boolean, now: Date) {
    await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now, { id })
      const user = await deleteUserAsAdmin(app, trx, id, { soft, namesConstraint: true }, now)
      const traits = { now, soft, ...deletedUserDetails(user) }
      await recordAdminActionOnUser(audit, trx, 'user_deleted', request, user, traits)
    })
  }
}

/** Other errors concern the admin and end the request. */
const isAboutUser = ({ status, errorCode }: ApiError): boolean =>
  errorCode === 'admin_role_required' || (status >= 400 && status < 500 && status !== 403)

async function attempt(id: string, work: (id: string) => Promise<void>) {
  try {
    await work(id)
    return id
  } catch (error) {
    if (!(error instanceof ApiError) || !isAboutUser(error)) throw error
    return { id, error_code: error.errorCode, msg: error.message }
  }
}

const types = ['confirmation', 'magiclink', 'recovery', 'invite'] as const
type LinkType = (typeof types)[number]

const kinds = {
  confirmation: 'confirmation',
  magiclink: 'magic_link',
  recovery: 'recovery',
  invite: 'invite',
} as const satisfies Record<LinkType, string>

const actions: Record<LinkType, AuditAction> = {
  confirmation: 'user_confirmation_requested',
  magiclink: 'user_recovery_requested',
  recovery: 'user_recovery_requested',
  invite: 'user_invited',
}

const LinkBody = Type.Object({
  type: StringEnum(types),
  redirect_to: Type.Optional(Type.String()),
})

const sendLink: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, emails } = app

  app.post(
    '/admin/users/:user_id/send_link',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Email a link to a user',
        description: 'Not rate limited. The link replaces an earlier one of the same type.',
        tags: ['admin'],
        params: UserPath,
        body: LinkBody,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('user_id', request.params.user_id)
      const { type, redirect_to } = request.body
      const context = readLinkContext(app, request, {}, redirect_to)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, id)
        checkRecipient(emails.policy, checkedAddress(user, type, now))
        await sendUncountedLinkEmail(app, trx, kinds[type], user, context, now)
        await recordAdminActionOnUser(audit, trx, actions[type], request, user, {
          now,
          link_type: type,
        })
      })
      return {}
    },
  )
}

/** Throws validation_failed when such a link would have no effect for the user, and user_banned. */
function checkedAddress(user: UserRecord, type: LinkType, now: Date): string {
  if (!user.email || user.deleted_at) throw validationFailed('This user has no email address')
  if (isBanned(user, now)) throw userBanned(403)
  const isConfirmed = user.email_confirmed_at !== null
  const needsUnconfirmed = type === 'confirmation' || type === 'invite'
  if (needsUnconfirmed === isConfirmed) {
    throw validationFailed(
      isConfirmed
        ? 'The address of this user is already confirmed: send a magiclink or recovery link'
        : 'The address of this user is not confirmed yet: send a confirmation or an invitation',
    )
  }
  return user.email
}

export const userRoutes = { bulk, sendLink }
