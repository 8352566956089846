/**
 * What a signed-in person does. Nothing here is reached without the token of a live person: it is read before the body,
 * after the limits of the client address.
 */
import type { FastifyPluginAsync } from 'fastify'

import challenge from './factors/challenge.ts'
import enrol from './factors/enrol.ts'
import unenrol from './factors/unenrol.ts'
import verify from './factors/verify.ts'
import identities from './identities.ts'
import logout from './logout.ts'
import list from './passkeys/list.ts'
import passkey from './passkeys/passkey.ts'
import registration from './passkeys/registration.ts'
import reauthenticate from './reauthenticate.ts'
import recoveryCodes from './recovery-codes.ts'
import sessions from './sessions.ts'
import user from './user/index.ts'

const userGroup: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('preParsing', bearerAuth.requireUser)
  fastify.addHook('preParsing', bearerAuth.requireFactor)
  fastify.addHook('onRoute', openapi.needsBearer)

  await fastify.register(user)
  await fastify.register(reauthenticate)
  await fastify.register(identities)
  await fastify.register(logout)
  await fastify.register(sessions)
  await fastify.register(enrol)
  await fastify.register(challenge)
  await fastify.register(verify)
  await fastify.register(unenrol)
  await fastify.register(recoveryCodes)
  await fastify.register(registration)
  await fastify.register(list)
  await fastify.register(passkey)
}

export default userGroup
