import type { FastifyInstance } from 'fastify'

import type { OrganizationScope } from '../../db/organizations/active.ts'

/**
 * For the organization of a token; undefined while organizations are disabled, so that no statement reads their tables.
 */
export function organizationScope(
  { config }: FastifyInstance,
  organizationId: string | null = null,
): OrganizationScope | undefined {
  return config.AUTH_ORGANIZATIONS_ENABLED ? { organizationId } : undefined
}
