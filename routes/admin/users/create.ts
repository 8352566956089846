import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'

import { changedUserFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { createUserAsAdmin, readNewAdminUser } from '../../../modules/users/index.ts'
import { NewRecord, UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

const create: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, users } = fastify
  const schema = {
    description: 'No email is sent. Addresses are unconfirmed unless the request sets otherwise.',
    tags: ['admin'],
    body: NewRecord,
    response: { 200: User, ...ErrorResponses },
  }

  fastify.post('/admin/users', { schema: { ...schema, summary: 'Create a user' } }, (request) =>
    insert(request, request.body),
  )

  fastify.post(
    '/admin/users/:user_id',
    {
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
      users,
      { ...record, aud: record.aud || request.audience },
      now,
    )
    const user = await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      bearerAuth.checkGrantedRole(request, draft.role)
      const inserted = await createUserAsAdmin(users, trx, draft, now)
      const traits = { now, ...changedUserFields(undefined, inserted) }
      await recordAdminActionOnUser(audit, trx, 'user_signedup', request, inserted, traits)
      return inserted
    })
    return toUser(user)
  }
}

export default create
