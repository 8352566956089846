import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import pLimit from 'p-limit'

import { authorizeAccess } from '../../../../modules/access/index.ts'
import {
  changedUserFields,
  deletedUserDetails,
  recordAdminActionOnUser,
} from '../../../../modules/audit/index.ts'
import {
  deleteUserAsAdmin,
  readAdminChange,
  updateUserAsAdmin,
} from '../../../../modules/users/index.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { ApiError, validationFailed } from '../../../../schemas/errors.ts'
import { readUuid } from '../../../../schemas/fields.ts'
import { StringEnum } from '../../../../schemas/values/choices.ts'

const Body = Type.Object({
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

const schema = {
  summary: 'Ban or delete several users',
  description: 'Users are processed individually: failed ones are returned with the reason.',
  tags: ['admin'],
  body: Body,
  response: { 200: Outcome, ...ErrorResponses },
}

const bulk: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/admin/users/bulk',
    { config: { minimumRole: 'operator' }, schema },
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
    { action, ban_duration, should_soft_delete: soft = false }: Static<typeof Body>,
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

export default bulk
