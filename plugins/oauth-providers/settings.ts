/** The providers that the operator has switched on, as providers/ wants to know them. */
import type { ProviderSettings } from '../../providers/provider.ts'
import type { Config } from '../../schemas/config/config.ts'
import { externalProviderNames } from '../../schemas/config/groups/external-providers.ts'
import {
  type ProviderSettings as Configured,
  genericOidcProviders,
  providerSettings,
} from '../../schemas/config/provider-settings.ts'

/** Those with a file of their own, by name. */
export function namedProviders(config: Config): Map<string, ProviderSettings> {
  const enabled = externalProviderNames
    .map((name) => providerSettings(config, name))
    .filter((settings) => settings.enabled)
  return new Map(enabled.map((settings) => [settings.name, settingsOf(config, settings)]))
}

/** Those known by their issuer alone. */
export function issuerProviders(config: Config): Map<string, ProviderSettings> {
  const enabled = genericOidcProviders(config).filter((settings) => settings.enabled)
  return new Map(
    enabled.map(({ issuer, scopes, ...settings }) => [
      settings.name,
      { ...settingsOf(config, settings), issuer, scopes },
    ]),
  )
}

function settingsOf(config: Config, configured: Configured): ProviderSettings {
  const { clientIds, secret, redirectUri = '', url, emailOptional, skipNonceCheck } = configured
  return {
    ...{ clientIds, secret, redirectUri, url, emailOptional, skipNonceCheck },
    ...(configured.name === 'apple' && {
      bundleId: config.AUTH_EXTERNAL_IOS_BUNDLE_ID,
      teamId: config.AUTH_EXTERNAL_APPLE_TEAM_ID,
      keyId: config.AUTH_EXTERNAL_APPLE_KEY_ID,
      privateKey: config.AUTH_EXTERNAL_APPLE_PRIVATE_KEY,
    }),
  }
}
