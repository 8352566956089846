import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findUsername } from '../../db/usernames/usernames.ts'
import { requireFreshProof, requireVerifiedFactor } from '../../modules/access/index.ts'
import { throttleNewIdentifier } from '../../modules/credentials/index.ts'
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

const username: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, rateLimits } = app

  app.get(
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
      getUsernameRules(app)
      return present(app, bearerAuth.getAuth(request).user.id, new Date())
    },
  )

  app.put(
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
    (request) => change(app, request, request.body.username),
  )
}

/** Throws feature_disabled, username_invalid, username_taken and username_changed_recently. */
async function change(app: FastifyInstance, request: FastifyRequest, input = '') {
  const rules = getUsernameRules(app)
  const now = new Date()
  const auth = app.bearerAuth.getSessionAuth(request)
  const { user } = auth
  const { clientIp: ip, sendingNetwork: network } = request
  if (user.is_sso_user) throw ssoManaged('A user of single sign-on has no username')
  await requireFreshProof(app, app.db, auth, { change: 'credentials' }, now)
  const name = readUsername(rules, input)
  const isTaken = !(await isAvailable(rules, app.db, name, user.id, now))
  const identifier = { isTaken, takenError: usernameTaken(), needsNoConfirmation: true }
  await throttleNewIdentifier(app, app.db, user, identifier, now)
  await app.db.transaction().execute(async (trx) => {
    const current = await app.bearerAuth.reauthorizeSession(trx, auth, now)
    requireVerifiedFactor(app, current, 'credentials', now)
    await changeUsername(app, trx, current.user, name, { ip, network, now })
  })
  return present(app, user.id, now)
}

async function present(app: FastifyInstance, userId: string, now: Date) {
  const found = await findUsername(app.db, userId)
  const next = nextUsernameChange(app, found, now)
  return {
    username: found?.username ?? null,
    ...(next && { changeable_at: toTimestamp(next) }),
  }
}

export default username
