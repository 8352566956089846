/** Sign-up and sign-in routes, unauthenticated, with the rate limits and captchas of each route. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import authorize from './authorize.ts'
import callback from './callback.ts'
import { emailLinkRoutes } from './email-links.ts'
import endSession from './end-session.ts'
import otp from './otp.ts'
import passkeys from './passkeys.ts'
import { signUpRoutes } from './signup.ts'
import token from './token/index.ts'
import verify from './verify/index.ts'

const auth: FastifyPluginAsync = async (app) => {
  await registerRoutes(app, {
    ...signUpRoutes,
    otp,
    ...emailLinkRoutes,
    verify,
    token,
    passkeys,
    authorize,
    callback,
    endSession,
  })
}

export default auth
