import type { Db } from '../core/database.ts'

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
