/** Bearer authentication (RFC 6750): the token's user and session while they are valid, or its admin role. */
import type { FastifyRequest } from 'fastify'

import { type AccessTokenClaims, isImpersonated } from '../../../schemas/access-token.ts'
import type { AdminRole } from '../../../schemas/console/admin-role.ts'
import { noAuthorization, sessionImpersonated } from '../../../schemas/errors.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createAdmins } from './admins.ts'
import { type AuthContext, checkAudience, findLive, findLiveOrClient } from './find-bearer.ts'
import { createGuards, type SessionAuth } from './guards.ts'
import { createLookUps } from './look-ups.ts'
import { createOrganizationGuards } from './organizations.ts'
import { reauthorize, reauthorizeSession } from './reauthorize.ts'
import { configuredSessionPolicy, throwIfRequired } from './session-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    bearerAuth: ReturnType<typeof createBearerAuth> & ReturnType<typeof createGuards>
  }
  interface FastifyRequest {
    auth: AuthContext | null
    admin: AccessTokenClaims | null
    /** The roles of the admin token. */
    adminRoles: readonly string[] | undefined
    /** The role of the admin. */
    adminRole: AdminRole | null
  }
}

export type { AuthContext, SessionAuth }

function createBearerAuth(deps: Deps<'config' | 'db' | 'jwt'>) {
  const { config, db, jwt } = deps
  const sessionPolicy = configuredSessionPolicy(config)
  const lookUps = createLookUps(db, config.AUTH_API_MAX_REQUEST_DURATION * 1000)

  function readClaims(request: FastifyRequest): Promise<AccessTokenClaims> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (!token) throw noAuthorization()
    return jwt.verify(token)
  }

  /** Throws no_authorization, bad_jwt, user_not_found, session_not_found or user_banned. */
  async function authenticate(request: FastifyRequest, now: Date): Promise<AuthContext> {
    const claims = await readClaims(request)
    checkAudience(request, claims)
    return findLive(lookUps, claims, now)
  }

  /** As authenticate, but rejects an impersonating admin. Throws session_impersonated as well. */
  async function authenticateNotImpersonated(request: FastifyRequest, now: Date) {
    const auth = await authenticate(request, now)
    if (isImpersonated(auth.claims)) throw sessionImpersonated()
    return auth
  }

  /** Throws mfa_enrollment_required or insufficient_aal for a role that requires a second factor. */
  function checkFactor({ user, session, claims }: AuthContext): void {
    throwIfRequired(sessionPolicy.requiredByRole({ user, session }, claims.role))
  }

  const admins = createAdmins({
    config,
    db,
    lookUps,
    sessionPolicy,
    readClaims,
    findLive,
    checkFactor,
  })

  return {
    /** Finds a user by UUID, in a statement that concurrent requests share. */
    findUserById: lookUps.user,
    authenticate,
    authenticateNotImpersonated,
    /** Also accepts tokens of OAuth clients. */
    authenticateOrClient: async (token: string, now: Date): Promise<AuthContext> =>
      findLiveOrClient(lookUps, await jwt.verify(token), now),
    checkFactor,
    throwIfRequired,
    /** The lifetime rules of sessions, for code that creates and refreshes them. */
    sessionPolicy,
    isConfirmed: sessionPolicy.isConfirmed,
    reauthorize,
    reauthorizeSession,
    ...admins,
    ...createOrganizationGuards({ db, sessionPolicy, ...admins }),
  }
}

export default definePlugin({
  name: 'bearerAuth',
  deps: ['config', 'db', 'jwt', 'runtimeSettings', 'decorateRequest'],
  create(deps) {
    deps.decorateRequest('auth', null)
    deps.decorateRequest('admin', null)
    deps.decorateRequest('adminRoles')
    deps.decorateRequest('adminRole', null)
    deps.decorateRequest('organization', null)
    const auth = createBearerAuth(deps)
    deps.runtimeSettings.onChange(auth.sessionPolicy.reload)
    return { ...auth, ...createGuards(auth) }
  },
})
