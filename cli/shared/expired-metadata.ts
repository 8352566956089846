/** SAML providers whose metadata has expired, for `npm run doctor` and the check before a takeover. */
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { listSamlMetadata } from '../../db/saml/providers.ts'
import { getSamlMetadata, isMetadataExpired } from '../../modules/saml/index.ts'

/** Returns a sentence for each enabled provider; none while SAML is off. Throws when the tables cannot be read. */
export async function describeExpiredMetadata(
  { config, db }: { config: Config; db: Db },
  now: Date,
): Promise<string[]> {
  if (!config.AUTH_SAML_ENABLED) return []
  const providers = await listSamlMetadata(db)
  return (await Promise.all(providers.map((provider) => describe(provider, now)))).flat()
}

type Provider = Awaited<ReturnType<typeof listSamlMetadata>>[number]

async function describe(provider: Provider, now: Date): Promise<string[]> {
  const { id, entity_id, metadata_url: url } = provider
  const metadata = await getSamlMetadata(provider).catch(() => undefined)
  if (!metadata || !isMetadataExpired(metadata, now)) return []
  const action = url
    ? `check that ${url} is reachable and has a current document`
    : `send a current document with PUT /admin/sso/providers/${id}, or set a metadata_url`
  const expiry = metadata.expiresAt?.toISOString()
  return [
    `The metadata of ${entity_id} (${id}) expired at ${expiry}, and sign-ins are rejected: ${action}.`,
  ]
}
