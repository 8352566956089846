import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findUsername } from '../../../db/usernames/usernames.ts'
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

const username: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db, usernames } = fastify

  fastify.get(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Get the username of a user',
        params: UserPath,
        response: { 200: Username, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      getUsernameRules(usernames)
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      return { username: (await findUsername(db, id))?.username ?? null }
    },
  )

  fastify.put(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Set the username of a user',
        description: 'At any time, and reserved words as well. The earlier name is held.',
        params: UserPath,
        body: Body,
        response: { 200: Username, ...ErrorResponses },
      },
    },
    (request) => setUsername(fastify, request, request.params.user_id, request.body.username),
  )

  fastify.delete(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Remove the username of a user',
        description: 'The name is available immediately.',
        params: UserPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await deleteUsername(fastify, request, request.params.user_id)
      return reply.status(204).send(null)
    },
  )
}

async function setUsername(
  { audit, bearerAuth, db, usernames }: FastifyInstance,
  request: FastifyRequest,
  userId: string,
  input = '',
) {
  const rules = getUsernameRules(usernames)
  const now = new Date()
  return db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const name = readUsername(rules, input)
    const user = await lockUserById(trx, readUuid('user_id', userId))
    const present = await findUsername(trx, user.id)
    await assignUsername(usernames, trx, user.id, name, now)
    const traits = { now, ...changedNames(present, name) }
    await recordAdminActionOnUser(audit, trx, 'user_modified', request, user, traits)
    return { username: name.username }
  })
}

async function deleteUsername(
  { audit, bearerAuth, db, usernames }: FastifyInstance,
  request: FastifyRequest,
  userId: string,
): Promise<void> {
  getUsernameRules(usernames)
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const user = await lockUserById(trx, readUuid('user_id', userId))
    const present = await findUsername(trx, user.id)
    await removeUsername(trx, user.id, now)
    const traits = { now, ...changedNames(present, undefined) }
    await recordAdminActionOnUser(audit, trx, 'user_modified', request, user, traits)
  })
}

function changedNames(before: { username: string } | undefined, after: typeof before) {
  return changedFields(
    before && { username: before.username },
    after && { username: after.username },
  )
}

export default username
