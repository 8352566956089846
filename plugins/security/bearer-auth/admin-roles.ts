/** Checks of admin rights: by a role of AUTH_JWT_ADMIN_ROLES, or by a row in the table of admins (docs/console.md). */
import type { FastifyRequest } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import { findAdminRole } from '../../../db/admins/admins.ts'
import type { Db } from '../../../db/core/database.ts'
import { type AccessTokenClaims, isImpersonated } from '../../../schemas/access-token.ts'
import type { AdminRole } from '../../../schemas/console/admin-role.ts'
import { notAdmin, sessionInvalid } from '../../../schemas/errors.ts'
import { type AuthContext, getSessionId, pathUserId } from './find-bearer.ts'
import type { LookUps } from './look-ups.ts'
import { type SessionPolicy, throwIfRequired } from './session-policy.ts'

export interface AdminDeps {
  config: Pick<Config, 'AUTH_CONSOLE_REQUIRE_MFA' | 'AUTH_JWT_ADMIN_ROLES'>
  db: Db
  lookUps: LookUps
  sessionPolicy: SessionPolicy
  readClaims: (request: FastifyRequest) => Promise<AccessTokenClaims>
  findLive: (from: LookUps, claims: AccessTokenClaims, now: Date) => Promise<AuthContext>
  checkFactor: (auth: AuthContext) => void
}

/** Where rows are read: outside a transaction, or inside one. */
interface Source {
  db: Db
  lookUps: LookUps
}

/** Throws like authenticate, and not_admin, session_expired, mfa_enrollment_required or insufficient_aal. */
export async function authorizeRole(
  deps: AdminDeps,
  claims: AccessTokenClaims,
  roles: readonly string[],
  now: Date,
): Promise<void> {
  // An impersonated session has the user's rights, never an admin's. An admin who still has to verify a second factor
  // also has a limited token; checkRole reports that.
  const isLimited = claims.role === deps.sessionPolicy.limitedRole && Boolean(getSessionId(claims))
  const mayBeAdmin = isLimited || roles.includes(claims.role ?? '')
  if (!mayBeAdmin || isImpersonated(claims)) throw notAdmin()
  await checkRole(deps, deps.lookUps, claims, roles, now)
}

/** Checks the current state, because the token may be older. A token without a session has no user to check. */
export async function checkRole(
  deps: AdminDeps,
  from: LookUps,
  claims: AccessTokenClaims,
  roles: readonly string[],
  now: Date,
): Promise<void> {
  if (!getSessionId(claims) || !claims.sub) return
  const auth = await deps.findLive(from, claims, now)
  if (!auth.user.role || !roles.includes(auth.user.role)) throw notAdmin()
  checkSession(deps, auth, now)
}

function checkSession(
  { checkFactor, config, sessionPolicy }: AdminDeps,
  auth: AuthContext,
  now: Date,
): void {
  if (auth.session && sessionPolicy.expiredBy(auth.session, now)) throw sessionInvalid()
  checkFactor(auth)
  const required = sessionPolicy.requiredByAdmin(auth)
  // A second factor is verified by every admin who has one; the setting requires one of the others, too.
  if (required === 'verification' || config.AUTH_CONSOLE_REQUIRE_MFA) throwIfRequired(required)
}

/** The user's role in the admins table; undefined for every other token. Throws like authorizeRole. */
export async function findListedRole(
  deps: AdminDeps,
  { db, lookUps }: Source,
  claims: AccessTokenClaims,
  now: Date,
): Promise<AdminRole | undefined> {
  const [userId] = pathUserId({ user_id: claims.sub })
  if (!userId || !getSessionId(claims) || isImpersonated(claims)) return undefined
  const role = await findAdminRole(db, userId)
  if (!role) return undefined
  checkSession(deps, await deps.findLive(lookUps, claims, now), now)
  return role
}
