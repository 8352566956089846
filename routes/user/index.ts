/**
 * Routes of the current user. All require the token of a live user, which is checked before the body is read and after
 * the limits by client address.
 */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import userExport from './export.ts'
import challenge from './factors/challenge.ts'
import enroll from './factors/enroll.ts'
import unenroll from './factors/unenroll.ts'
import verify from './factors/verify.ts'
import identities from './identities.ts'
import logout from './logout.ts'
import list from './passkeys/list.ts'
import passkey from './passkeys/passkey.ts'
import registration from './passkeys/registration.ts'
import reauthenticate from './reauthenticate.ts'
import generateRecoveryCodes from './recovery-codes/generate.ts'
import removeRecoveryCodes from './recovery-codes/remove.ts'
import recoveryCodeStatus from './recovery-codes/status.ts'
import verifyRecoveryCode from './recovery-codes/verify.ts'
import sessions from './sessions.ts'
import singleLogout from './single-logout.ts'
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
    logout,
    singleLogout,
    sessions,
    enroll,
    challenge,
    verify,
    unenroll,
    recoveryCodeStatus,
    generateRecoveryCodes,
    verifyRecoveryCode,
    removeRecoveryCodes,
    registration,
    list,
    passkey,
  })
}

export default userGroup
