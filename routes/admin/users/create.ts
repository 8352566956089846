import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'

import {
  recordPreparation,
  recordServerRole,
  requireProvenHolder,
} from '../../../modules/access/index.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { createUserAsAdmin, readNewAdminUser } from '../../../modules/users/index.ts'
import { NewRecord, UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

const create: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const schema = {
    description:
      'No email is sent. Addresses are unconfirmed unless the request sets otherwise; with a role of AUTH_JWT_ADMIN_ROLES it has to.',
    tags: ['admin'],
    body: NewRecord,
    response: { 200: User, ...ErrorResponses },
  }

  app.post(
    '/admin/users',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: { ...schema, summary: 'Create a user' },
    },
    (request) => insert(request, request.body),
  )

  app.post(
    '/admin/users/:user_id',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: { ...schema, summary: 'Create a user with a given id', params: UserPath },
    },
    async (request) => {
      const id = readUuid('user_id', request.params.user_id)
      return insert(request, { ...request.body, id })
    },
  )

  async function insert(request: FastifyRequest, record: NewRecord) {
    const now = new Date()
    const draft = await readNewAdminUser(
      app,
      { ...record, aud: record.aud || request.audience },
      now,
    )
    const user = await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      bearerAuth.checkGrantedRole(request, draft.role)
      const inserted = await createUserAsAdmin(app, trx, draft, now)
      await recordPreparation(trx, request, { before: undefined, after: inserted }, now)
      const traits = { now, ...changedUserFields(undefined, inserted) }
      await recordAdminActionOnUser(audit, trx, 'user_signedup', request, inserted, traits)
      if (draft.role && bearerAuth.adminRoles.includes(draft.role)) {
        await requireProvenHolder(trx, inserted, { isNamed: true })
        await recordServerRole(app, trx, { userId: inserted.id, role: draft.role }, now)
      }
      return inserted
    })
    return toUser(user)
  }
}

export default create
