/** Providers that admins create at run time, and those whose operator is an organization, now or earlier. */
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type {
  CustomOauthProvidersTable,
  CustomProviderIssuersTable,
  CustomProviderOptionsTable,
} from '../tables/identities.ts'

export type CustomProviderOptions = Omit<Selectable<CustomProviderOptionsTable>, 'provider_id'>
export type CustomProviderRow = Selectable<CustomOauthProvidersTable> &
  CustomProviderOptions & {
    /** An organization has or had the provider: `isTenantProvider`. */
    organization_bound: boolean
  }
export type CustomProviderType = CustomProviderRow['provider_type']

/** With their options, and whether an organization has or had them. */
const selectProviders = (db: Db) =>
  db
    .selectFrom('custom_oauth_providers')
    .leftJoin('postern_custom_provider_options', 'provider_id', 'custom_oauth_providers.id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('postern_tenant_providers')
          .select('postern_tenant_providers.created_at as marked_at')
          .whereRef('postern_tenant_providers.identifier', '=', 'custom_oauth_providers.identifier')
          .limit(sql.lit(1))
          .as('mark'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('postern_organization_connections')
          .select('postern_organization_connections.id as connection_id')
          .whereRef('custom_provider_id', '=', 'custom_oauth_providers.id')
          .limit(sql.lit(1))
          .as('binding'),
      (join) => join.onTrue(),
    )
    .selectAll('custom_oauth_providers')
    .select((eb) => [
      eb.fn.coalesce('own_callback', sql<boolean>`false`).as('own_callback'),
      'id_token_signed_response_alg',
      sql<boolean>`(marked_at is not null or connection_id is not null)`.as('organization_bound'),
    ])

export function listCustomProviders(
  db: Db,
  type?: CustomProviderType,
): Promise<CustomProviderRow[]> {
  return selectProviders(db)
    .$if(type !== undefined, (query) => query.where('provider_type', '=', type ?? 'oidc'))
    .orderBy('created_at')
    .orderBy('identifier')
    .execute()
}

/** The identifiers of the enabled providers that share one redirect URI. */
export async function listSharingProviders(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('custom_oauth_providers')
    .leftJoin('postern_custom_provider_options', 'provider_id', 'id')
    .select('identifier')
    .where('enabled', '=', true)
    .where((eb) => eb(eb.fn.coalesce('own_callback', sql<boolean>`false`), '=', false))
    .orderBy('identifier')
    .execute()
  return rows.map(({ identifier }) => identifier)
}

const findRow = queryOne((db, value: ParamOf<{ identifier: string }>) =>
  selectProviders(db).where('identifier', '=', value('identifier')),
)

export function findCustomProvider(
  db: Db,
  identifier: string,
): Promise<CustomProviderRow | undefined> {
  return findRow(db, { identifier })
}

/** Returns the row, locked until the transaction ends. */
export function lockCustomProvider(
  trx: Trx,
  identifier: string,
): Promise<CustomProviderRow | undefined> {
  return selectProviders(trx)
    .where('identifier', '=', identifier)
    .forUpdate('custom_oauth_providers')
    .executeTakeFirst()
}

/** Counts providers under an advisory lock: concurrent calls wait until this transaction ends. */
export async function countCustomProviders(trx: Trx): Promise<number> {
  await lockName(trx, 'custom_oauth_providers')
  const { count } = await trx
    .selectFrom('custom_oauth_providers')
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Returns undefined when the identifier is in use. */
export function insertCustomProvider(
  trx: Trx,
  provider: Insertable<CustomOauthProvidersTable>,
): Promise<Selectable<CustomOauthProvidersTable> | undefined> {
  return trx
    .insertInto('custom_oauth_providers')
    .values(provider)
    .onConflict((conflict) => conflict.column('identifier').doNothing())
    .returningAll()
    .executeTakeFirst()
}

export function updateCustomProvider(
  trx: Trx,
  id: string,
  change: Updateable<CustomOauthProvidersTable>,
): Promise<Selectable<CustomOauthProvidersTable>> {
  return trx
    .updateTable('custom_oauth_providers')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function upsertProviderOptions(
  trx: Trx,
  options: Insertable<CustomProviderOptionsTable>,
): Promise<CustomProviderOptions> {
  return trx
    .insertInto('postern_custom_provider_options')
    .values(options)
    .onConflict((conflict) => conflict.column('provider_id').doUpdateSet(options))
    .returning(['own_callback', 'id_token_signed_response_alg'])
    .executeTakeFirstOrThrow()
}

export async function deleteCustomProvider(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('custom_oauth_providers').where('id', '=', id).execute()
}

/** The issuers of the identities of these providers, by provider. */
export async function findIssuers(
  db: Db,
  identifiers: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('postern_custom_provider_issuers')
    .select(['identifier', 'issuer'])
    .where('identifier', '=', sql<string>`any(${identifiers}::text[])`)
    .execute()
  return new Map(rows.map(({ identifier, issuer }) => [identifier, issuer]))
}

/**
 * Whether the identities of a custom provider come from this issuer. It cannot change before the transaction of a
 * sign-in ends.
 */
export async function lockIssuer(
  trx: Trx,
  { identifier, issuer }: Insertable<CustomProviderIssuersTable>,
): Promise<boolean> {
  const held = await trx
    .selectFrom('postern_custom_provider_issuers')
    .select('issuer')
    .where('identifier', '=', identifier)
    .forShare()
    .executeTakeFirst()
  // A provider that GoTrue added to the shared database has none yet.
  return held ? held.issuer === issuer : bindIssuer(trx, { identifier, issuer })
}

/** Returns false, with nothing stored, while the provider has identities of another issuer. */
export async function bindIssuer(
  trx: Trx,
  binding: Insertable<CustomProviderIssuersTable>,
): Promise<boolean> {
  // Waits for sign-ins that hold it: the next statement reads the identities that they inserted.
  await trx
    .selectFrom('postern_custom_provider_issuers')
    .select('identifier')
    .where('identifier', '=', binding.identifier)
    .forUpdate()
    .execute()
  const bound = await trx
    .insertInto('postern_custom_provider_issuers')
    .values(binding)
    .onConflict((conflict) =>
      conflict
        .column('identifier')
        .doUpdateSet({ issuer: binding.issuer })
        .where((eb) =>
          eb.or([
            eb('postern_custom_provider_issuers.issuer', '=', binding.issuer),
            // In the order of an index: `exists` might read all identities.
            eb(
              eb
                .selectFrom('identities')
                .select('identities.user_id')
                .where('identities.provider', '=', binding.identifier)
                .orderBy('identities.user_id')
                .limit(sql.lit(1)),
              'is',
              null,
            ),
          ]),
        ),
    )
    .returning('identifier')
    .executeTakeFirst()
  return bound !== undefined
}

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
