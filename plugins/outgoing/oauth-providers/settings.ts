import type { Config } from '../../../config/groups/index.ts'
import {
  allowedAudiences,
  type ProviderVariables as Configured,
  genericOidcProviders,
  providerSettings,
} from '../../../config/groups/provider-settings.ts'
import type { ProviderSettings } from '../../../providers/core/types.ts'
import { providerNames } from '../../../providers/registry.ts'

/** Providers with an adapter of their own, by name. */
export function namedProviders(config: Config): Map<string, ProviderSettings> {
  const enabled = providerNames
    .map((name) => providerSettings(config, name))
    .filter((settings) => settings.enabled)
  return new Map(enabled.map((settings) => [settings.name, toSettings(config, settings)]))
}

/** Providers known by their issuer only. */
export function issuerProviders(config: Config): Map<string, ProviderSettings> {
  const enabled = genericOidcProviders(config).filter((settings) => settings.enabled)
  return new Map(
    enabled.map(({ issuer, scopes, acceptsHs256, ...settings }) => [
      settings.name,
      { ...toSettings(config, settings), issuer, scopes, acceptsHs256 },
    ]),
  )
}

/** AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS with their audiences; an issuer without an audience is ignored. */
export function allowedIssuers(config: Config): Map<string, readonly string[]> {
  // Unset when an issuer in the list has no audience and GoTrue's name was used (config/rules/providers.ts).
  const issuers = config.AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS ?? []
  const entries = issuers.map((issuer) => [issuer, allowedAudiences(config, issuer)] as const)
  return new Map(entries.filter(([, audiences]) => audiences.length > 0))
}

function toSettings(config: Config, configured: Configured): ProviderSettings {
  const { clientIds, secret, redirectUri = '', url, apiUrl } = configured
  const { emailOptional, skipNonceCheck } = configured
  return {
    clientIds,
    secret,
    redirectUri,
    url,
    apiUrl,
    emailOptional,
    skipNonceCheck,
    ...(configured.name === 'apple' && {
      bundleId: config.AUTH_EXTERNAL_IOS_BUNDLE_ID,
      teamId: config.AUTH_EXTERNAL_APPLE_TEAM_ID,
      keyId: config.AUTH_EXTERNAL_APPLE_KEY_ID,
      privateKey: config.AUTH_EXTERNAL_APPLE_PRIVATE_KEY,
    }),
  }
}
