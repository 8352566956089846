/** Users who join get no role with more permissions than the member has who enables that way of joining. */
import type { Trx } from '../../db/core/database.ts'
import type { OrganizationUpdate } from '../../db/organizations/organizations.ts'
import { checkConnectionRoles } from './connections.ts'
import { lockLiveOrganization } from './organization.ts'
import { checkGrant } from './roles.ts'

/**
 * Before a change of how users join. Throws organization_not_found, organization_role_not_found and
 * organization_role_too_high.
 */
export async function checkJoiningRoles(
  trx: Trx,
  id: string,
  { default_role, domain_join: byDomain = 'off', sso_join: bySso = false }: OrganizationUpdate,
  granted: readonly string[],
): Promise<void> {
  const before = await lockLiveOrganization(trx, id)
  const opensDomain = byDomain !== 'off' && byDomain !== before.domain_join
  if (default_role !== undefined || opensDomain) {
    await checkGrant(trx, id, default_role ?? before.default_role, granted)
  }
  if (bySso && !before.sso_join) await checkConnectionRoles(trx, id, granted)
}

/**
 * Before a domain is verified, whose users may then join. Throws organization_not_found and organization_role_too_high.
 */
export async function checkDomainRole(
  trx: Trx,
  id: string,
  granted: readonly string[],
): Promise<void> {
  const { domain_join: byDomain, default_role } = await lockLiveOrganization(trx, id)
  if (byDomain !== 'off') await checkGrant(trx, id, default_role, granted)
}
