/** Custom providers whose operator is an organization, now or earlier. */
import type { Db, Trx } from '../core/database.ts'

/** Kept until `deleteTenantProvider`, also while no organization has the provider. */
export async function insertTenantProvider(trx: Trx, identifier: string, now: Date): Promise<void> {
  await trx
    .insertInto('postern_tenant_providers')
    .values({ identifier, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteTenantProvider(trx: Trx, identifier: string): Promise<void> {
  await trx.deleteFrom('postern_tenant_providers').where('identifier', '=', identifier).execute()
}

const selectBound = (db: Db) =>
  db
    .selectFrom('postern_organization_connections')
    .innerJoin('custom_oauth_providers', 'custom_oauth_providers.id', 'custom_provider_id')
    .select('custom_oauth_providers.identifier')

/** Whether an organization has the provider now, also while it makes no members or the organization is deleted. */
export async function isBoundProvider(db: Db, identifier: string): Promise<boolean> {
  const found = await selectBound(db).where('identifier', '=', identifier).executeTakeFirst()
  return found !== undefined
}

/**
 * Whether an organization has or had the provider, which may be deleted. A binding counts by itself: the previous
 * release makes one without the mark.
 */
export async function isTenantProvider(db: Db, identifier: string): Promise<boolean> {
  const found = await db
    .selectFrom('postern_tenant_providers')
    .select('identifier')
    .where('identifier', '=', identifier)
    .unionAll(selectBound(db).where('identifier', '=', identifier))
    .executeTakeFirst()
  return found !== undefined
}
