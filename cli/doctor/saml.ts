/** Checks that the metadata of each identity provider has not expired. */
import { listSsoProviders, type SsoProviderRow } from '../../db/saml/providers.ts'
import { getSamlMetadata, isMetadataExpired } from '../../modules/saml/index.ts'
import { type DoctorContext, type DoctorFinding, fail } from './finding.ts'

export async function checkSaml({ config, db, now }: DoctorContext): Promise<DoctorFinding[]> {
  if (!config.AUTH_SAML_ENABLED) return []
  // Before the first start, or when the database is unavailable, which has a separate check.
  const providers = await listSsoProviders(db, {}).catch(() => [])
  const enabled = providers.filter(({ disabled }) => !disabled)
  return (await Promise.all(enabled.map((provider) => examine(provider, now)))).flat()
}

async function examine(provider: SsoProviderRow, now: Date): Promise<DoctorFinding[]> {
  const { id, entity_id, metadata_url: url } = provider
  const metadata = await getSamlMetadata(provider).catch(() => undefined)
  if (!metadata || !isMetadataExpired(metadata, now)) return []
  const action = url
    ? `check that ${url} is reachable and has a current document`
    : `send a current document with PUT /admin/sso/providers/${id}, or set a metadata_url`
  return [
    fail(
      `The metadata of ${entity_id} (${id}) expired at ${metadata.expiresAt?.toISOString()}, and sign-ins are rejected: ${action}.`,
    ),
  ]
}
