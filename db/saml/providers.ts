/** SAML identity providers: two tables per provider and one for its domains. */
import { sql, type Updateable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { replayInsert } from '../replays/replays.ts'
import type { SamlProvidersTable, SsoProvidersTable } from '../tables/saml.ts'

export interface SsoProviderRow {
  id: string
  resource_id: string | null
  disabled: boolean | null
  created_at: Date | null
  updated_at: Date | null
  entity_id: string
  metadata_xml: string
  metadata_url: string | null
  attribute_mapping: Record<string, unknown> | null
  name_id_format: string | null
  metadata_read_at: Date | null
  /** Null for the default of the server. */
  idp_initiated: 'allow' | 'deny' | null
  domains: string[]
}

const rows = (db: Pick<Db, 'selectFrom'>) =>
  db
    .selectFrom('sso_providers')
    .innerJoin('saml_providers', 'saml_providers.sso_provider_id', 'sso_providers.id')
    .leftJoin(
      'postern_saml_provider_options',
      'postern_saml_provider_options.sso_provider_id',
      'sso_providers.id',
    )
    .select([
      'sso_providers.id',
      'sso_providers.resource_id',
      'sso_providers.disabled',
      'sso_providers.created_at',
      'sso_providers.updated_at',
      'saml_providers.entity_id',
      'saml_providers.metadata_xml',
      'saml_providers.metadata_url',
      'saml_providers.attribute_mapping',
      'saml_providers.name_id_format',
      'saml_providers.updated_at as metadata_read_at',
      'postern_saml_provider_options.idp_initiated',
    ])
    .select((eb) =>
      sql<string[]>`array(${eb
        .selectFrom('sso_domains')
        .select('domain')
        .whereRef('sso_domains.sso_provider_id', '=', 'sso_providers.id')
        .orderBy('domain')})`.as('domains'),
    )

interface SsoProviderFilter {
  resourceId?: string | undefined
  resourceIdPrefix?: string | undefined
}

export function listSsoProviders(
  db: Db,
  { resourceId, resourceIdPrefix }: SsoProviderFilter,
): Promise<SsoProviderRow[]> {
  return rows(db)
    .$if(Boolean(resourceId), (query) => query.where('resource_id', '=', resourceId ?? ''))
    .$if(Boolean(resourceIdPrefix), (query) =>
      query.where(sql<boolean>`starts_with(resource_id, ${resourceIdPrefix ?? ''})`),
    )
    .orderBy('sso_providers.created_at')
    .orderBy('sso_providers.id')
    .execute()
}

export function findSsoProvider(db: Db, id: string): Promise<SsoProviderRow | undefined> {
  return rows(db).where('sso_providers.id', '=', id).executeTakeFirst()
}

/** As `consumeOnce`, with the provider of the message: `is_first` is false when the key was consumed before. */
export function consumeOnceWithProvider(
  trx: Trx,
  id: string,
  key: string,
  expiresAt: Date,
): Promise<(SsoProviderRow & { is_first: boolean }) | undefined> {
  return rows(trx.with('consumed', (eb) => replayInsert(eb, key, expiresAt).returning('key')))
    .select(sql<boolean>`exists (select from consumed)`.as('is_first'))
    .where('sso_providers.id', '=', id)
    .executeTakeFirst()
}

export function findSsoProviderByResourceId(
  db: Db,
  resourceId: string,
): Promise<SsoProviderRow | undefined> {
  return rows(db).where('resource_id', '=', resourceId).executeTakeFirst()
}

export function findSsoProviderByEntityId(
  db: Db,
  entityId: string,
): Promise<SsoProviderRow | undefined> {
  return rows(db).where('saml_providers.entity_id', '=', entityId).executeTakeFirst()
}

/** `domain` in lower case. Domains that GoTrue stored in another case match too. */
export function findSsoProviderByDomain(
  db: Db,
  domain: string,
): Promise<SsoProviderRow | undefined> {
  return rows(db)
    .innerJoin('sso_domains as named', 'named.sso_provider_id', 'sso_providers.id')
    .where(sql<boolean>`lower(named.domain) = ${domain}`)
    .executeTakeFirst()
}

/** The provider, locked until the transaction ends. */
export async function lockSsoProvider(trx: Trx, id: string): Promise<SsoProviderRow | undefined> {
  await trx.selectFrom('sso_providers').select('id').where('id', '=', id).forUpdate().execute()
  return findSsoProvider(trx, id)
}

export type SamlColumns = Pick<
  Updateable<SamlProvidersTable>,
  'metadata_xml' | 'metadata_url' | 'attribute_mapping' | 'name_id_format'
>

interface NewSsoProvider extends SamlColumns {
  id: string
  resource_id: string | null
  disabled: boolean | null
  entity_id: string
  metadata_xml: string
}

export async function insertSsoProvider(
  trx: Trx,
  { id, resource_id, disabled, ...saml }: NewSsoProvider,
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  await trx
    .insertInto('sso_providers')
    .values({ id, resource_id, disabled, ...times })
    .execute()
  const samlId = crypto.randomUUID()
  await trx
    .insertInto('saml_providers')
    .values({
      metadata_url: null,
      name_id_format: null,
      ...saml,
      id: samlId,
      sso_provider_id: id,
      ...times,
    })
    .execute()
}

export async function updateSsoProvider(
  trx: Trx,
  id: string,
  change: Pick<Updateable<SsoProvidersTable>, 'resource_id' | 'disabled'>,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('sso_providers')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function updateSamlProvider(
  db: Db,
  providerId: string,
  change: SamlColumns,
  now: Date,
): Promise<void> {
  await db
    .updateTable('saml_providers')
    .set({ ...change, updated_at: now })
    .where('sso_provider_id', '=', providerId)
    .execute()
}

/** Sets whether sign-ins may start at the provider; null for the default of the server. */
export async function setIdpInitiated(
  trx: Trx,
  sso_provider_id: string,
  idp_initiated: SsoProviderRow['idp_initiated'],
): Promise<void> {
  if (idp_initiated === null) {
    await trx
      .deleteFrom('postern_saml_provider_options')
      .where('sso_provider_id', '=', sso_provider_id)
      .execute()
    return
  }
  await trx
    .insertInto('postern_saml_provider_options')
    .values({ sso_provider_id, idp_initiated })
    .onConflict((conflict) => conflict.column('sso_provider_id').doUpdateSet({ idp_initiated }))
    .execute()
}

/** Replaces the domains of a provider. */
export async function replaceSsoDomains(
  trx: Trx,
  providerId: string,
  domains: readonly string[],
  now: Date,
): Promise<void> {
  await trx.deleteFrom('sso_domains').where('sso_provider_id', '=', providerId).execute()
  if (domains.length === 0) return
  const toRow = (domain: string) => ({
    id: crypto.randomUUID(),
    sso_provider_id: providerId,
    domain,
    created_at: now,
    updated_at: now,
  })
  await trx.insertInto('sso_domains').values(domains.map(toRow)).execute()
}

/** Deletes a provider with its domains, its metadata and its open sign-ins. */
export async function deleteSsoProvider(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('sso_providers').where('id', '=', id).execute()
}

type SamlMetadataRow = Pick<SsoProviderRow, 'id' | 'entity_id' | 'metadata_xml' | 'metadata_url'>

/** The metadata of enabled providers, in the tables of GoTrue: also before a takeover or a migration. */
export function listSamlMetadata(db: Db): Promise<SamlMetadataRow[]> {
  return db
    .selectFrom('sso_providers')
    .innerJoin('saml_providers', 'saml_providers.sso_provider_id', 'sso_providers.id')
    .select(['sso_providers.id', 'entity_id', 'metadata_xml', 'metadata_url'])
    .where((eb) => eb.or([eb('disabled', 'is', null), eb('disabled', '=', false)]))
    .orderBy('sso_providers.created_at')
    .execute()
}

/** Stores the document that was fetched from this address; false when an admin has set another source concurrently. */
export async function storeFetchedMetadata(
  db: Db,
  providerId: string,
  { url, xml }: { url: string; xml: string },
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('saml_providers')
    .set({ metadata_xml: xml, updated_at: now })
    .where('sso_provider_id', '=', providerId)
    .where('metadata_url', '=', url)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}
