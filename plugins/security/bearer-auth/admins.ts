/**
 * Authorization of the admin API: tokens with a role of AUTH_JWT_ADMIN_ROLES, which count as owner, and users in the
 * admins table, each with their own role (docs/console.md).
 */
import type { FastifyRequest } from 'fastify'

import { findAdminRole, hasAdminAmong } from '../../../db/admins/admins.ts'
import type { Db, Trx } from '../../../db/core/database.ts'
import { lockUsers } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { type AccessTokenClaims, subjectUserId } from '../../../schemas/access-token.ts'
import { type AdminRole, includesRole } from '../../../schemas/console/admin-role.ts'
import { adminRoleRequired, notAdmin } from '../../../schemas/errors.ts'
import type { Acting } from '../../../schemas/values/acting.ts'
import { identify } from '../../observability/request-context/index.ts'
import { type AdminDeps, authorizeRole, checkRole, findListedRole } from './admin-roles.ts'
import { getSessionId, pathUserId } from './find-bearer.ts'
import { lookUpsIn } from './look-ups.ts'
import { getRequiredFactor, type RequiredFactor } from './session-policy.ts'

export type AdminRequest = Pick<
  FastifyRequest,
  'admin' | 'adminRole' | 'adminRoles' | 'params' | 'routeOptions'
>

type Subject = Pick<UserRecord, 'id'>

export function createAdmins(deps: AdminDeps) {
  const adminRoles = deps.config.AUTH_JWT_ADMIN_ROLES

  return {
    adminRoles,
    /** Admin roles, and the two roles that may always invite. */
    inviterRoles: [...adminRoles, 'service_role', 'platform_admin'],

    authorizeAdmin: (request: FastifyRequest, roles: readonly string[], now: Date) =>
      authorizeAdmin(deps, request, roles, now),

    reauthorizeAdmin: (
      trx: Trx,
      request: AdminRequest,
      now: Date,
      subject?: Subject | readonly Subject[],
    ) => reauthorizeAdmin(deps, trx, request, now, subject),

    /**
     * After `reauthorizeAdmin`: only owners may grant a role that gives access to the admin API. Throws admin_role_required.
     */
    checkGrantedRole({ adminRole }: Pick<FastifyRequest, 'adminRole'>, granted?: string): void {
      if (adminRole === 'owner' || granted === undefined || !adminRoles.includes(granted)) return
      throw adminRoleRequired('owner', adminRole, `Only owners may grant the role ${granted}`)
    },

    /** The user and session of an admin's verified claims; undefined for the token of a service. Throws like `authenticate`. */
    findActingUser: async (claims: AccessTokenClaims, now: Date) =>
      claims.sub && getSessionId(claims) ? deps.findLive(deps.lookUps, claims, now) : undefined,

    findAccess: createFindAccess({
      adminRoles,
      authorizeRole: (claims, roles, now) => authorizeRole(deps, claims, roles, now),
      db: deps.db,
      findListed: (claims, now) => findListedRole(deps, deps, claims, now),
    }),

    /** Whether the request carries a valid token with an admin role; never throws. */
    async isAdmin(request: FastifyRequest): Promise<boolean> {
      try {
        await authorizeRole(deps, await deps.readClaims(request), adminRoles, new Date())
        return true
      } catch {
        return false
      }
    },
  }
}

/**
 * Authorizes an admin for the requested endpoint. Throws like authenticate, and not_admin, admin_role_required,
 * session_expired, mfa_enrollment_required or insufficient_aal.
 */
async function authorizeAdmin(
  deps: AdminDeps,
  request: FastifyRequest,
  roles: readonly string[],
  now: Date,
): Promise<void> {
  const claims = await deps.readClaims(request)
  const isByRole = roles.includes(claims.role ?? '')
  const listed = isByRole ? undefined : await findListedRole(deps, deps, claims, now)
  if (listed) checkReach(request, listed)
  else await authorizeRole(deps, claims, roles, now)
  request.admin = claims
  request.adminRoles = roles
  request.adminRole = listed ?? 'owner'
  identify({ actor: toActor(claims, listed) })
}

function toActor(claims: AccessTokenClaims, listed: AdminRole | undefined): Acting['actor'] {
  return {
    type: getSessionId(claims) ? 'admin' : 'service',
    id: subjectUserId(claims) ?? null,
    role: listed ?? claims.role ?? '',
  }
}

/** A route outside the admin API that declares no role is for owners. */
function checkReach({ routeOptions }: AdminRequest, role: AdminRole): void {
  const { minimumRole = 'owner' } = routeOptions.config
  if (minimumRole === 'none' || includesRole(role, minimumRole)) return
  throw adminRoleRequired(minimumRole, role)
}

/**
 * First in a transaction: checks the admin again and locks their row until the end. Locks the target users too, in an
 * order in which two admins cannot deadlock: the user in the path, or else `subject`. Throws like `requireAdmin`, and
 * admin_role_required for an account that only owners may change.
 */
async function reauthorizeAdmin(
  deps: AdminDeps,
  trx: Trx,
  request: AdminRequest,
  now: Date,
  subject?: Subject | readonly Subject[],
): Promise<void> {
  const { admin, adminRoles: roles, params } = request
  if (!admin || !roles) throw notAdmin()
  if (!getSessionId(admin) || !admin.sub) return
  const given = subject && [subject].flat().map(({ id }) => id)
  const subjects = given ?? pathUserId(params)
  await lockUsers(trx, [admin.sub, ...subjects])
  if (roles.includes(admin.role ?? '')) return checkRole(deps, lookUpsIn(trx), admin, roles, now)
  const role = await findListedRole(deps, { db: trx, lookUps: lookUpsIn(trx) }, admin, now)
  if (!role) throw notAdmin()
  checkReach(request, role)
  request.adminRole = role
  await checkSubjects(deps, trx, role, subjects)
}

/** Only owners may change how an owner signs in. */
async function checkSubjects(
  { config }: AdminDeps,
  trx: Trx,
  role: AdminRole,
  subjects: readonly string[],
) {
  if (role === 'owner' || subjects.length === 0) return
  if (await hasAdminAmong(trx, subjects, config.AUTH_JWT_ADMIN_ROLES)) {
    throw adminRoleRequired('owner', role, 'Only owners may change the account of an admin')
  }
}

interface Checks {
  adminRoles: readonly string[]
  db: Db
  authorizeRole: (claims: AccessTokenClaims, roles: readonly string[], now: Date) => Promise<void>
  findListed: (claims: AccessTokenClaims, now: Date) => Promise<AdminRole | undefined>
}

interface SignedInUser {
  claims: AccessTokenClaims
  user: Pick<UserRecord, 'id' | 'role'>
}

interface AdminAccess {
  role: AdminRole | null
  requiredFactor: RequiredFactor | null
}

/** Console access of a user who signed in at the pages. */
function createFindAccess({ adminRoles, db, authorizeRole, findListed }: Checks) {
  /** The user's role, and the second factor that is required first. Throws like authorizeAdmin. */
  return async ({ claims, user }: SignedInUser, now: Date): Promise<AdminAccess> => {
    const isAdminByRole = adminRoles.includes(user.role ?? '')
    const role = isAdminByRole ? 'owner' : await findAdminRole(db, user.id)
    if (!role) return { role: null, requiredFactor: null }
    try {
      if (isAdminByRole) await authorizeRole(claims, adminRoles, now)
      else await findListed(claims, now)
      return { role, requiredFactor: null }
    } catch (error) {
      const required = getRequiredFactor(error)
      if (!required) throw error
      return { role, requiredFactor: required }
    }
  }
}
