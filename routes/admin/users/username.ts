import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findUsername } from '../../../db/usernames/usernames.ts'
import { recordAccess } from '../../../modules/access/index.ts'
import { changedFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import {
  assignUsername,
  getUsernameRules,
  readUsername,
  removeUsername,
} from '../../../modules/usernames/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { nullable } from '../../../schemas/values/choices.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const Body = Type.Object({ username: Type.Optional(Type.String(needed)) })
const Username = Type.Object({ username: nullable(Type.String()) })

const path = '/admin/users/:user_id/username'

const username: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'Get the username of a user',
        params: UserPath,
        response: { 200: Username, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      getUsernameRules(app)
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      return { username: (await findUsername(db, id))?.username ?? null }
    },
  )

  app.put(
    path,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        tags: ['admin'],
        summary: 'Set the username of a user',
        description: 'At any time, and reserved words as well. The earlier name is held.',
        params: UserPath,
        body: Body,
        response: { 200: Username, ...ErrorResponses },
      },
    },
    (request) => setUsername(app, request, request.params.user_id, request.body.username),
  )

  app.delete(
    path,
    {
      config: { minimumRole: 'operator' },
      schema: {
        tags: ['admin'],
        summary: 'Remove the username of a user',
        description: 'The name is available immediately.',
        params: UserPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteUsername(app, request, request.params.user_id)
      return reply.status(204).send(null)
    },
  )
}

async function setUsername(
  app: FastifyInstance,
  request: FastifyRequest,
  userId: string,
  input = '',
) {
  const { audit, bearerAuth, db } = app
  const rules = getUsernameRules(app)
  const now = new Date()
  return db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const name = readUsername(rules, input)
    const user = await lockUserById(trx, readUuid('user_id', userId))
    const present = await findUsername(trx, user.id)
    await assignUsername(app, trx, user.id, name, now)
    const { username } = name
    await recordAccess(app, trx, { user, grant: { kind: 'username', username } }, now)
    const traits = { now, ...changedNames(present, name) }
    await recordAdminActionOnUser(audit, trx, 'user_modified', request, user, traits)
    return { username }
  })
}

async function deleteUsername(
  app: FastifyInstance,
  request: FastifyRequest,
  userId: string,
): Promise<void> {
  getUsernameRules(app)
  const now = new Date()
  await app.db.transaction().execute(async (trx) => {
    await app.bearerAuth.reauthorizeAdmin(trx, request, now)
    const user = await lockUserById(trx, readUuid('user_id', userId))
    const present = await findUsername(trx, user.id)
    await removeUsername(trx, user.id, now)
    const traits = { now, ...changedNames(present, undefined) }
    await recordAdminActionOnUser(app.audit, trx, 'user_modified', request, user, traits)
  })
}

function changedNames(before: { username: string } | undefined, after: typeof before) {
  return changedFields(
    before && { username: before.username },
    after && { username: after.username },
  )
}

export default username
