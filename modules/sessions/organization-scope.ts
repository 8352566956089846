import type { OrganizationScope } from '../../db/organizations/active.ts'
import type { Deps } from '../../plugins/define-plugin.ts'

/** For the organization of a token; undefined while organizations are off, so that no statement reads them. */
export function organizationScope(
  { config }: Deps<'config'>,
  organizationId: string | null = null,
): OrganizationScope | undefined {
  return config.AUTH_ORGANIZATIONS_ENABLED ? { organizationId } : undefined
}
