import type { Db } from '../core/database.ts'
import type { SsoProviderRow } from './providers.ts'

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
