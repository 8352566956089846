/** Bearer authentication (RFC 6750): the token's user and session while they are valid, or its admin role. */
import type { FastifyRequest } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { findMembership } from '../../../db/organizations/members.ts'
import { findOrganization, lockOrganization } from '../../../db/organizations/organizations.ts'
import { lockUsers } from '../../../db/users/update-user.ts'
import { type AccessTokenClaims, isImpersonated, toActing } from '../../../schemas/access-token.ts'
import type { AdminRole } from '../../../schemas/console/admin-role.ts'
import {
  insufficientAal,
  noAuthorization,
  organizationNotFound,
  organizationPermissionRequired,
  sessionImpersonated,
  sessionNotFound,
} from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import {
  effectivePermissions,
  everyPermission,
  hasPermission,
} from '../../../schemas/organizations/permissions.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { identify } from '../../observability/request-context/index.ts'
import { type AdminRequest, createAdmins } from './admins.ts'
import { type AuthContext, checkAudience, findLive, findLiveOrClient } from './find-bearer.ts'
import { createGuards, type SessionAuth } from './guards.ts'
import { createLookUps, lookUpsIn } from './look-ups.ts'
import { createRoutePermissions } from './route-permissions.ts'
import { configuredSessionPolicy, type SessionPolicy, throwIfRequired } from './session-policy.ts'

declare module 'fastify' {
  interface FastifyRequest {
    organization: OrganizationAccess | null
  }
}

interface OrganizationAccess {
  id: string
  permissions: readonly string[]
}

type OrganizationRequest = Pick<FastifyRequest, 'auth' | 'organization'> & AdminRequest

interface GuardDeps {
  db: Db
  reauthorizeAdmin: (
    trx: Trx,
    request: AdminRequest,
    now: Date,
    subject?: readonly { id: string }[],
  ) => Promise<void>
  sessionPolicy: SessionPolicy
}

/**
 * Authorizes requests for the organization in the path: a member has the permissions of the role, an admin of the
 * server has all. Each route names the required permission (`config.organizationPermission`).
 */
function createOrganizationGuards({ db, reauthorizeAdmin, sessionPolicy }: GuardDeps) {
  return {
    /** Throws organization_not_found to users who are no members, and organization_permission_required. */
    async requireOrganization(request: FastifyRequest): Promise<void> {
      request.organization = await loadAccess(db, request)
    },

    /** The organization of a handler behind requireOrganization. */
    getOrganization({ organization }: Pick<FastifyRequest, 'organization'>): OrganizationAccess {
      if (!organization) throw organizationNotFound()
      return organization
    },

    /**
     * First in a transaction: verifies that the actor is signed in and has the permission, until the transaction ends.
     * Locks the users, the actor among them, in one order, and then the organization. Throws like
     * `requireOrganization`, and insufficient_aal for a member who has yet to verify a second factor.
     */
    async reauthorizeInOrganization(
      trx: Trx,
      request: OrganizationRequest,
      now: Date,
      userIds: readonly string[] = [],
    ): Promise<OrganizationAccess> {
      const { admin, auth, organization } = request
      if (admin) {
        await reauthorizeAdmin(
          trx,
          request,
          now,
          userIds.map((id) => ({ id })),
        )
        await lockUsers(trx, userIds)
      } else {
        if (!auth) throw noAuthorization()
        await lockUsers(trx, [auth.user.id, ...userIds])
        const current = await findLive(lookUpsIn(trx), auth.claims, now)
        if (!sessionPolicy.isConfirmed(current, now)) throw insufficientAal(unconfirmed, 403)
      }
      await lockOrganization(trx, organization?.id ?? '')
      return loadAccess(trx, request)
    },
  }
}

const unconfirmed = 'AAL2 session is required to change an organization.'

async function loadAccess(
  db: Db,
  { admin, auth, params, routeOptions }: Omit<OrganizationRequest, 'organization'>,
): Promise<OrganizationAccess> {
  const id = organizationIdIn(params)
  if (admin) {
    if (!(await findOrganization(db, id))) throw organizationNotFound()
    return { id, permissions: [everyPermission] }
  }
  const member = auth && (await findMembership(db, id, auth.user.id))
  if (member?.status !== 'active') throw organizationNotFound()
  const permissions = effectivePermissions(member.role, member.role_permissions)
  const required = routeOptions.config.organizationPermission
  if (!required) throw new Error(`${routeOptions.url} declares no permission`)
  if (required !== 'none' && !hasPermission(permissions, required)) {
    throw organizationPermissionRequired(required)
  }
  return { id, permissions }
}

/** Throws organization_not_found. */
function organizationIdIn(params: unknown): string {
  const { organization_id: id }: { organization_id?: unknown } = Object(params)
  if (typeof id !== 'string' || !isUuid(id)) throw organizationNotFound()
  return id.toLowerCase()
}

declare module 'fastify' {
  interface FastifyInstance {
    bearerAuth: ReturnType<typeof createBearerAuth> &
      ReturnType<typeof createGuards> &
      Pick<ReturnType<typeof createRoutePermissions>, 'listEndpoints'>
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
    return identified(await findLive(lookUps, claims, now))
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
    identify,
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

function identified(auth: AuthContext): AuthContext {
  identify(toActing(auth.claims, auth.user.id))
  return auth
}

export default definePlugin({
  name: 'bearerAuth',
  deps: ['addHook', 'config', 'db', 'jwt', 'runtimeSettings', 'decorateRequest'],
  create(deps) {
    deps.decorateRequest('auth', null)
    deps.decorateRequest('admin', null)
    deps.decorateRequest('adminRoles')
    deps.decorateRequest('adminRole', null)
    deps.decorateRequest('organization', null)
    const auth = createBearerAuth(deps)
    deps.runtimeSettings.onChange(auth.sessionPolicy.reload)
    const { requirePermission, listEndpoints } = createRoutePermissions()
    deps.addHook('onRoute', requirePermission)
    return { ...auth, ...createGuards(auth), listEndpoints }
  },
})

// Repeats the authorization as the first step of a transaction, under a lock that keeps it valid until the end: the
// user may have signed out while the request was processed.

/** Returns the current user and session. Throws like `authenticate`. */
async function reauthorize(
  trx: Trx,
  { user, claims }: AuthContext,
  now: Date,
): Promise<AuthContext> {
  await lockUsers(trx, [user.id])
  return findLive(lookUpsIn(trx), claims, now)
}

/** As `reauthorize`, for requests that require a session. Throws session_not_found as well. */
async function reauthorizeSession(trx: Trx, auth: SessionAuth, now: Date): Promise<SessionAuth> {
  const { session, ...current } = await reauthorize(trx, auth, now)
  if (!session) throw sessionNotFound()
  return { ...current, session }
}
