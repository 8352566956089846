/** Domains of the tenants of providers. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { isVerifiedDomainAmong } from '../organizations/domains.ts'

/**
 * Whether the tenant of the provider has the domain: the organization that it is bound to, or for which it provisions
 * users, verified it and is not deleted; for a SAML provider without an organization, an admin entered it.
 */
export async function isDomainOfTenant(
  db: Db,
  { provider, hasOrganizations }: { provider: string; hasOrganizations: boolean },
  domain: string,
): Promise<boolean> {
  const organizations = hasOrganizations ? await listOrganizations(db, provider) : []
  if (organizations.length > 0) return isVerifiedDomainAmong(db, organizations, domain)
  const ssoId = findSsoId(provider)
  return ssoId !== undefined && isDomainOfSso(db, ssoId, domain)
}

/** Whether an admin entered the domain for the SSO provider. */
export async function isDomainOfSso(db: Db, ssoId: string, domain: string): Promise<boolean> {
  const found = await db
    .selectFrom('sso_domains')
    .select('id')
    .where('sso_provider_id', '=', ssoId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return found !== undefined
}

const findSsoId = (provider: string) => /^sso:(.+)$/.exec(provider)?.[1]

/** Deleted ones too: domains that an admin entered do not take their place. */
async function listOrganizations(db: Db, provider: string): Promise<string[]> {
  const ssoId = findSsoId(provider)
  const rows =
    ssoId === undefined
      ? await db
          .selectFrom('postern_organization_connections')
          .innerJoin('custom_oauth_providers', 'custom_oauth_providers.id', 'custom_provider_id')
          .select('organization_id')
          .where('identifier', '=', provider)
          .execute()
      : await selectOrganizationsOfSso(db, ssoId).execute()
  return rows.map(({ organization_id }) => organization_id)
}

function selectOrganizationsOfSso(db: Db, ssoId: string) {
  const bound = db
    .selectFrom('postern_organization_connections')
    .select('organization_id')
    .where('sso_provider_id', '=', ssoId)
  const provisioned = db
    .selectFrom('postern_scim_connections')
    .select(sql<string>`organization_id`.as('organization_id'))
    .where('sso_provider_id', '=', ssoId)
    .where('organization_id', 'is not', null)
  return db.selectFrom(bound.union(provisioned).as('of_provider')).select('organization_id')
}
