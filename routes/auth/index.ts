/** Signing up and in: open to everybody, within the limits and captchas that each route states. */
import type { FastifyPluginAsync } from 'fastify'

import { registerAll } from '../../plugins/register-all.ts'
import authorize from './authorize.ts'
import callback from './callback.ts'
import endSession from './end-session.ts'
import magiclink from './magiclink.ts'
import otp from './otp/index.ts'
import passkeys from './passkeys.ts'
import recover from './recover.ts'
import resend from './resend.ts'
import signup from './signup/index.ts'
import switchedOff from './switched-off.ts'
import token from './token/index.ts'
import verify from './verify/index.ts'

const auth: FastifyPluginAsync = async (fastify) => {
  await registerAll(fastify, {
    signup,
    otp,
    magiclink,
    recover,
    resend,
    verify,
    token,
    passkeys,
    authorize,
    callback,
    endSession,
    switchedOff,
  })
}

export default auth
