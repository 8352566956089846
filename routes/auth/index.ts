/** Sign-up and sign-in routes, unauthenticated, with the rate limits and captchas of each route. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import authorize from './authorize.ts'
import callback from './callback/index.ts'
import endSession from './end-session.ts'
import magiclink from './magiclink.ts'
import otp from './otp/index.ts'
import passkeys from './passkeys.ts'
import recover from './recover.ts'
import resend from './resend.ts'
import signup from './signup/index.ts'
import signupUsername from './signup-username.ts'
import token from './token/index.ts'
import verify from './verify/index.ts'

const auth: FastifyPluginAsync = async (app) => {
  await registerRoutes(app, {
    signup,
    signupUsername,
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
  })
}

export default auth
