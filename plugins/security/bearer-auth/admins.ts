/**
 * Authorization of the admin API: tokens with a role of AUTH_JWT_ADMIN_ROLES, which count as owner, and users in the
 * admins table, each with their own role (docs/console.md).
 */
import type { FastifyRequest } from 'fastify'

import { hasAdminAmong } from '../../../db/admins/admins.ts'
import type { Trx } from '../../../db/core/database.ts'
import { lockUsers } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { type AdminRole, includesRole } from '../../../schemas/console/admin-role.ts'
import { adminRoleRequired, notAdmin } from '../../../schemas/errors.ts'
import { getMinimumRole, listEndpoints } from './admin-endpoints.ts'
import { type AdminDeps, authorizeRole, checkRole, findListedRole } from './admin-roles.ts'
import { createFindAccess } from './console-access.ts'
import { getSessionId, pathUserId } from './find-bearer.ts'
import { lookUpsIn } from './look-ups.ts'

export type AdminRequest = Pick<
  FastifyRequest,
  'admin' | 'adminRole' | 'adminRoles' | 'method' | 'params' | 'routeOptions'
>

type Subject = Pick<UserRecord, 'id'>

export function createAdmins(deps: AdminDeps) {
  const adminRoles = deps.config.AUTH_JWT_ADMIN_ROLES

  return {
    adminRoles,
    /** Admin roles, and the two roles that may always invite. */
    inviterRoles: [...adminRoles, 'service_role', 'platform_admin'],
    listEndpoints: listEndpoints,

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
      const blocker = grantBlocker(deps, adminRole, granted)
      if (blocker) throw adminRoleRequired('owner', adminRole, blocker)
    },

    /** As `checkGrantedRole`, returned as a sentence; undefined for a role that the admin may grant. */
    grantBlocker: ({ adminRole }: Pick<FastifyRequest, 'adminRole'>, granted: string) =>
      grantBlocker(deps, adminRole, granted),

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
}

function checkReach(request: AdminRequest, role: AdminRole): void {
  const minimum = getMinimumRole(request)
  if (!includesRole(role, minimum)) throw adminRoleRequired(minimum, role)
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

function grantBlocker(
  { config }: Pick<AdminDeps, 'config'>,
  role: AdminRole | null,
  granted: string | undefined,
): string | undefined {
  const isAdminRole = config.AUTH_JWT_ADMIN_ROLES.includes(granted ?? '')
  if (role === 'owner' || !isAdminRole) return undefined
  return `Only owners may grant the role ${granted}`
}
