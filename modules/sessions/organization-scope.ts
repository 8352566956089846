import type { OrganizationScope } from '../../db/organizations/active.ts'
import type { Deps } from '../../plugins/define-plugin.ts'

/**
 * For the organization of a token; undefined while organizations are disabled, so that no statement reads their tables.
 */
export function organizationScope(
  { config }: Deps<'config'>,
  organizationId: string | null = null,
): OrganizationScope | undefined {
  return config.AUTH_ORGANIZATIONS_ENABLED ? { organizationId } : undefined
}
