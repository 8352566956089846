/**
 * Providers that admins add at run time. Each is read from the database when used, so that every replica has the
 * current one.
 */
import { isUnreadable } from '../../../db/core/stored-json.ts'
import {
  type CustomProviderRow,
  findCustomProvider,
  listSharingProviders,
} from '../../../db/custom-providers/providers.ts'
import type { Provider } from '../../../providers/core/provider.ts'
import type { ProviderHttp, ProviderSettings } from '../../../providers/core/types.ts'
import { createOauthProvider } from '../../../providers/registry.ts'
import { customCallbackUrl } from '../../../schemas/values/callback-urls.ts'
import type { Deps } from '../../define-plugin.ts'

interface UsableCustomProvider {
  enabled: boolean
  settings: ProviderSettings
  provider: Provider | undefined
}

/** Undefined for an unknown name, or while the feature is off. */
export type FindCustom = (name: string) => Promise<UsableCustomProvider | undefined>

export const isCustom = (name: string) => name.startsWith('custom:')

/** Where the identities of a custom provider come from; undefined for every other provider. */
export function issuerOfCustom(settings: ProviderSettings | undefined): string | undefined {
  return settings?.custom && (settings.custom.endpoints?.userinfo ?? settings.issuer)
}

export function createFindCustom(
  deps: Deps<'config' | 'db' | 'encryption'>,
  upstream: ProviderHttp,
): FindCustom {
  const { config, db } = deps
  /** Cached by the row's version, because a provider remembers how it authenticates. */
  const made = new Map<string, UsableCustomProvider & { updatedAt: number }>()

  return async (name) => {
    if (!config.AUTH_CUSTOM_OAUTH_ENABLED || !isCustom(name)) return undefined
    const row = await findCustomProvider(db, name)
    if (!row) {
      made.delete(name)
      return undefined
    }
    const updatedAt = row.updated_at.getTime()
    const known = made.get(name)
    if (known?.updatedAt === updatedAt) return known
    const settings = toSettings(deps, row)
    const provider = createOauthProvider(name, settings, upstream)
    // A mapping may replace the user's id and address: without it, they would be others.
    const enabled = row.enabled && !isUnreadable(row.attribute_mapping)
    const found = { enabled, settings, provider, updatedAt }
    made.set(name, found)
    return found
  }
}

/** Warns at each start of providers from before each had a redirect URI of its own. */
export async function reportSharedCallback({
  config,
  db,
  log,
}: Deps<'config' | 'db' | 'log'>): Promise<void> {
  if (!config.AUTH_CUSTOM_OAUTH_ENABLED) return
  const providers = await listSharingProviders(db)
  if (providers.length === 0) return
  log.warn(
    { providers },
    'custom providers share the redirect URI /callback: the operator of one could sign in as users of another (docs/custom-providers.md, "Redirect URI")',
  )
}

function toSettings(
  { config, encryption }: Deps<'config' | 'encryption'>,
  row: CustomProviderRow,
): ProviderSettings {
  const { authorization_url: authorize, token_url: token, userinfo_url: userinfo } = row
  const isPlain = row.provider_type === 'oauth2'
  return {
    clientIds: [row.client_id, ...row.acceptable_client_ids],
    secret: encryption.decrypt(row.id, row.client_secret, 'The secret of a custom provider'),
    redirectUri: customCallbackUrl(config, row),
    acceptsHs256: row.id_token_signed_response_alg === 'HS256',
    emailOptional: row.email_optional,
    skipNonceCheck: row.skip_nonce_check,
    scopes: row.scopes,
    issuer: row.issuer ?? undefined,
    custom: {
      pkce: row.pkce_enabled,
      authorizationParams: texts(row.authorization_params),
      attributeMapping: row.attribute_mapping,
      claimsAllowlist: row.custom_claims_allowlist,
      discoveryUrl: row.discovery_url ?? undefined,
      ...(isPlain && {
        endpoints: { authorize: authorize ?? '', token: token ?? '', userinfo: userinfo ?? '' },
      }),
    },
  }
}

function texts(values: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(values).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
