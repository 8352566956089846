/**
 * Routes of the current user. All require the token of a live user, which is checked before the body is read and after
 * the limits by client address.
 */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import userExport from './export.ts'
import { factorRoutes } from './factors.ts'
import identities from './identities.ts'
import { passkeyRoutes } from './passkeys.ts'
import reauthenticate from './reauthenticate.ts'
import { recoveryCodeRoutes } from './recovery-codes.ts'
import { sessionRoutes } from './sessions.ts'
import user from './user/index.ts'
import username from './username.ts'

const userGroup: FastifyPluginAsync = async (app) => {
  const { bearerAuth, openapi } = app
  app.addHook('preParsing', bearerAuth.requireUser)
  app.addHook('preParsing', bearerAuth.requireFactor)
  app.addHook('onRoute', openapi.needsBearer)

  await registerRoutes(app, {
    user,
    username,
    userExport,
    reauthenticate,
    identities,
    ...sessionRoutes,
    ...factorRoutes,
    ...recoveryCodeRoutes,
    ...passkeyRoutes,
  })
}

export default userGroup
