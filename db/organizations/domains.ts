/** Domains of organizations. A verified one belongs to one organization. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { OrganizationDomainsTable } from '../tables/organizations.ts'

export type DomainRow = Selectable<OrganizationDomainsTable>

export function listDomains(db: Db, organizationId: string): Promise<DomainRow[]> {
  return db
    .selectFrom('postern_organization_domains')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('domain')
    .execute()
}

export function findDomain(
  db: Db,
  organizationId: string,
  id: string,
): Promise<DomainRow | undefined> {
  return db
    .selectFrom('postern_organization_domains')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Undefined when the organization has the domain already. */
export function insertDomain(
  trx: Trx,
  domain: Pick<
    DomainRow,
    'id' | 'organization_id' | 'domain' | 'dns_token' | 'verified_at' | 'verified_by'
  >,
  now: Date,
): Promise<DomainRow | undefined> {
  return trx
    .insertInto('postern_organization_domains')
    .values({ ...domain, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'domain']).doNothing())
    .returningAll()
    .executeTakeFirst()
}

export function updateDomain(
  trx: Trx,
  id: string,
  change: Partial<
    Pick<
      DomainRow,
      'verified_at' | 'verified_by' | 'email' | 'code_hash' | 'code_attempts' | 'code_expires_at'
    >
  >,
  now: Date,
): Promise<DomainRow> {
  return trx
    .updateTable('postern_organization_domains')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Counts an attempt at a code before it is verified; undefined when no attempt is left, or the code has expired. */
export function countCodeAttempt(
  db: Db,
  { organizationId, id, maxAttempts }: { organizationId: string; id: string; maxAttempts: number },
  now: Date,
): Promise<DomainRow | undefined> {
  return db
    .updateTable('postern_organization_domains')
    .set((eb) => ({ code_attempts: eb('code_attempts', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('code_hash', 'is not', null)
    .where('code_expires_at', '>', now)
    .where('code_attempts', '<', maxAttempts)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteDomain(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('postern_organization_domains').where('id', '=', id).execute()
}

/** The organization that verified the domain and lets users join by it, unless the user is a member. */
export function findJoinableByDomain(db: Db, domain: string, userId: string) {
  return db
    .selectFrom('postern_organization_domains')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .selectAll('postern_organizations')
    .where('domain', '=', domain)
    .where('verified_at', 'is not', null)
    .where('domain_join', '<>', 'off')
    .where('postern_organizations.deleted_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('postern_organization_members')
            .select('user_id')
            .whereRef('organization_id', '=', 'postern_organizations.id')
            .where('user_id', '=', userId),
        ),
      ),
    )
    .executeTakeFirst()
}

/** Whether one of these organizations verified the domain and is not deleted. */
export async function isVerifiedDomainAmong(
  db: Db,
  organizationIds: readonly string[],
  domain: string,
): Promise<boolean> {
  const found = await db
    .selectFrom('postern_organization_domains')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select('postern_organization_domains.id')
    .where('organization_id', 'in', organizationIds)
    .where('domain', '=', domain)
    .where('verified_at', 'is not', null)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}
