/** The claims of an access token about the active organization. */
import type { Config } from '../../../config/groups/index.ts'
import type { ActiveOrganization } from '../../../db/organizations/active.ts'
import type { AccessToken } from '../../../schemas/access-token.ts'
import { effectivePermissions } from '../../../schemas/organizations/permissions.ts'

/** More would make every request larger: the token then has the role only. */
const maxPermissions = 32

export function getOrganizationClaims(
  { id, slug, role, permissions: stored }: ActiveOrganization,
  claims: Config['AUTH_ORGANIZATIONS_CLAIMS'],
): Partial<AccessToken> {
  const permissions = effectivePermissions(role, stored)
  return {
    ...(claims.includes('org_id') && { org_id: id }),
    ...(claims.includes('org_slug') && { org_slug: slug }),
    ...(claims.includes('org_role') && { org_role: role }),
    ...(claims.includes('org_permissions') &&
      permissions.length <= maxPermissions && { org_permissions: permissions }),
  }
}
