/** The providers that the operator has switched on, as providers/ wants to know them. */
import type { ProviderSettings } from '../../providers/provider.ts'
import { providerNames } from '../../providers/registry.ts'
import type { Config } from '../config/config.ts'
import {
  allowedAudiences,
  type ProviderSettings as Configured,
  genericOidcProviders,
  providerSettings,
} from '../config/provider-settings.ts'

/** Those with a file of their own, by name. */
export function namedProviders(config: Config): Map<string, ProviderSettings> {
  const enabled = providerNames
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

/** Issuers of AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS with their audiences; without one an issuer is none. */
export function allowedIssuers(config: Config): Map<string, readonly string[]> {
  // The list is unset when an issuer on it has no audience and GoTrue's name was used (config/rules/id-tokens.ts).
  const issuers = config.AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS ?? []
  const entries = issuers.map((issuer) => [issuer, allowedAudiences(config, issuer)] as const)
  return new Map(entries.filter(([, audiences]) => audiences.length > 0))
}

function settingsOf(config: Config, configured: Configured): ProviderSettings {
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
