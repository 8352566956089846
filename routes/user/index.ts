/**
 * What a signed-in person does. Nothing here is reached without the token of a live person: it is read before the body,
 * after the limits of the client address.
 */
import type { FastifyPluginAsync } from 'fastify'

import { registerAll } from '../../plugins/register-all.ts'
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
import recoveryCodesOfSdk from './recovery-codes-of-sdk.ts'
import sessions from './sessions.ts'
import switchedOff from './switched-off.ts'
import user from './user/index.ts'

const userGroup: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('preParsing', bearerAuth.requireUser)
  fastify.addHook('preParsing', bearerAuth.requireFactor)
  fastify.addHook('onRoute', openapi.needsBearer)

  await registerAll(fastify, {
    user,
    reauthenticate,
    identities,
    logout,
    sessions,
    enrol,
    challenge,
    verify,
    unenrol,
    recoveryCodes,
    recoveryCodesOfSdk,
    registration,
    list,
    passkey,
    switchedOff,
  })
}

export default userGroup
