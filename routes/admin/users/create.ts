import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'

import { validationFailed } from '../../../errors.ts'
import { NewRecord, UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { toUser, User } from '../../../schemas/user.ts'

const create: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, db, requireAdmin, userRecords } = fastify
  const schema = {
    description: 'Sends no mail. Addresses are unconfirmed unless the request says otherwise.',
    tags: ['admin'],
    body: NewRecord,
    response: { 200: User, ...ErrorResponses },
  }

  fastify.post(
    '/admin/users',
    { onRequest: requireAdmin, schema: { ...schema, summary: 'Create a person' } },
    (request) => insert(request, request.body),
  )

  fastify.post(
    '/admin/users/:user_id',
    {
      onRequest: requireAdmin,
      schema: { ...schema, summary: 'Create a person with this id', params: UserPath },
    },
    async (request) => {
      const { user_id: id } = request.params
      if (!isUuid(id)) throw validationFailed('user_id must be an UUID', 404)
      return insert(request, { ...request.body, id })
    },
  )

  async function insert(request: FastifyRequest, record: NewRecord) {
    const now = new Date()
    const audience = request.headers['x-jwt-aud']
    const draft = await userRecords.draft(
      { ...(typeof audience === 'string' && { aud: audience }), ...record },
      now,
    )
    const user = await db.transaction().execute(async (trx) => {
      const inserted = await userRecords.insert(trx, draft, now)
      await adminTrail.record(trx, 'user_signedup', request, inserted, { now })
      return inserted
    })
    return toUser(user)
  }
}

export default create
