/** The configured providers as operators see them. */
import type { Config } from '../../config/groups/index.ts'
import {
  genericOidcProviders,
  type ProviderVariables,
  providerSettings,
} from '../../config/groups/provider-settings.ts'
import { providerNames, providerTitles } from '../../providers/registry.ts'
import type { ProviderSummary } from '../../schemas/console/providers.ts'

export function describeProviders(config: Config): ProviderSummary[] {
  const named = providerNames.map((name) => providerSettings(config, name))
  return [
    ...named.map((settings) => summarize(config, settings, 'built-in', null)),
    ...genericOidcProviders(config).map(({ issuer, ...settings }) =>
      summarize(config, settings, 'oidc', issuer),
    ),
  ]
}

function summarize(
  config: Config,
  { name, enabled, clientIds, secret, redirectUri }: ProviderVariables,
  kind: ProviderSummary['kind'],
  issuer: string | null,
): ProviderSummary {
  return {
    name,
    title: providerTitles.get(name) ?? name,
    kind,
    enabled,
    callback_url: redirectUri ?? `${config.AUTH_API_EXTERNAL_URL}/callback`,
    client_id: clientIds[0] ?? null,
    has_secret: Boolean(secret),
    issuer,
  }
}
