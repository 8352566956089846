/** Compares configured redirect URIs with this server's callback URL. */
import { providerNames } from '../../providers/registry.ts'
import type { Config } from '../groups/index.ts'
import { genericOidcProviders, providerSettings } from '../groups/provider-settings.ts'

/** The callback URL to register at a provider. */
export function callbackUrl({
  AUTH_API_EXTERNAL_URL,
}: Pick<Config, 'AUTH_API_EXTERNAL_URL'>): string {
  return `${AUTH_API_EXTERNAL_URL}/callback`
}

/** A sentence for each enabled provider with another redirect URI. */
export function redirectNotices(config: Config): string[] {
  const ours = callbackUrl(config)
  const good = [ours, ours.replace(/\/callback$/, `${config.AUTH_API_PREFIX}/callback`)]
  const named = providerNames.map((name) => ({
    ...providerSettings(config, name),
    variable: `AUTH_EXTERNAL_${name.toUpperCase()}_REDIRECT_URI`,
  }))
  const generic = genericOidcProviders(config).map((settings) => ({
    ...settings,
    variable: `AUTH_EXTERNAL_OIDC_${settings.name.toUpperCase()}_REDIRECT_URI`,
  }))
  return [...named, ...generic]
    .filter(({ enabled, redirectUri }) => enabled && redirectUri && !good.includes(redirectUri))
    .map(
      ({ variable, redirectUri }) =>
        `${variable} is ${redirectUri}, but the callback of this server is ${ours}: unless a proxy forwards the former to the latter, register and set the latter.`,
    )
}
