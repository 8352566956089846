import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findUsername } from '../../db/usernames/usernames.ts'
import {
  requireFreshProof,
  requireVerifiedFactor,
  throttleNewIdentifier,
} from '../../modules/credentials/index.ts'
import {
  changeUsername,
  getUsernameRules,
  isAvailable,
  nextUsernameChange,
  readUsername,
} from '../../modules/usernames/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ssoManaged, usernameTaken } from '../../schemas/errors.ts'
import { nullable } from '../../schemas/values/choices.ts'
import { Timestamp, toTimestamp } from '../../schemas/values/timestamp.ts'

const Body = Type.Object({ username: Type.Optional(Type.String(needed)) })
const PresentUsername = Type.Object({
  username: nullable(Type.String()),
  changeable_at: Type.Optional(Timestamp),
})

const username: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, rateLimits, usernames } = fastify

  fastify.get(
    '/user/username',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'Get the username of the current user',
        description: 'changeable_at is absent when the user may choose another one now.',
        tags: ['user'],
        response: { 200: PresentUsername, ...ErrorResponses },
      },
    },
    async (request) => {
      getUsernameRules(usernames)
      return present(fastify, bearerAuth.getAuth(request).user.id, new Date())
    },
  )

  fastify.put(
    '/user/username',
    {
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: true },
      schema: {
        summary: 'Set or change the username of the current user',
        description: 'Needs a recent sign-in, as every change of a sign-in method does.',
        tags: ['user'],
        body: Body,
        response: { 200: PresentUsername, ...ErrorResponses },
      },
    },
    (request) => change(fastify, request, request.body.username),
  )
}

/** Throws feature_disabled, username_invalid, username_taken and username_changed_recently. */
async function change(
  { bearerAuth, credentials, db, usernames }: FastifyInstance,
  request: FastifyRequest,
  input = '',
) {
  const rules = getUsernameRules(usernames)
  const now = new Date()
  const auth = bearerAuth.getSessionAuth(request)
  const { user } = auth
  if (user.is_sso_user) throw ssoManaged('A user of single sign-on has no username')
  await requireFreshProof(credentials, db, auth, { change: 'credentials' }, now)
  const name = readUsername(rules, input)
  const isTaken = !(await isAvailable(rules, db, name, user.id, now))
  const identifier = { isTaken, takenError: usernameTaken(), needsNoConfirmation: true }
  await throttleNewIdentifier(credentials, db, user, identifier, now)
  await db.transaction().execute(async (trx) => {
    const current = await bearerAuth.reauthorizeSession(trx, auth, now)
    requireVerifiedFactor(credentials, current, 'credentials', now)
    await changeUsername(usernames, trx, current.user, name, { ip: request.clientIp, now })
  })
  return present({ db, usernames }, user.id, now)
}

async function present(
  { db, usernames }: Pick<FastifyInstance, 'db' | 'usernames'>,
  userId: string,
  now: Date,
) {
  const found = await findUsername(db, userId)
  const next = nextUsernameChange(usernames, found, now)
  return {
    username: found?.username ?? null,
    ...(next && { changeable_at: toTimestamp(next) }),
  }
}

export default username
