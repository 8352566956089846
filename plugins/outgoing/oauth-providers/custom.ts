/**
 * Providers that admins add at run time. Each is read from the database when used, so that every replica has the
 * current one.
 */
import {
  type CustomProviderRow,
  findCustomProvider,
} from '../../../db/custom-providers/providers.ts'
import type { Provider } from '../../../providers/core/provider.ts'
import type { ProviderHttp, ProviderSettings } from '../../../providers/core/types.ts'
import { createOauthProvider } from '../../../providers/registry.ts'
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
    const found = { enabled: row.enabled, settings, provider, updatedAt }
    made.set(name, found)
    return found
  }
}

function toSettings(
  { config, encryption }: Deps<'config' | 'encryption'>,
  row: CustomProviderRow,
): ProviderSettings {
  const baseUrl = config.AUTH_CUSTOM_OAUTH_EXTERNAL_URL ?? config.AUTH_API_EXTERNAL_URL
  const { authorization_url: authorize, token_url: token, userinfo_url: userinfo } = row
  const isPlain = row.provider_type === 'oauth2'
  return {
    clientIds: [row.client_id, ...row.acceptable_client_ids],
    secret: encryption.decrypt(row.id, row.client_secret, 'The secret of a custom provider'),
    redirectUri: `${baseUrl}/callback`,
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
