/** Console access of a user who signed in at the pages. */
import { findAdminRole } from '../../../db/admins/admins.ts'
import type { Db } from '../../../db/core/database.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { AccessTokenClaims } from '../../../schemas/access-token.ts'
import type { AdminRole } from '../../../schemas/console/admin-role.ts'
import { getRequiredFactor, type RequiredFactor } from './session-policy.ts'

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

export function createFindAccess({ adminRoles, db, authorizeRole, findListed }: Checks) {
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
