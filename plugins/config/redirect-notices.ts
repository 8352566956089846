/** Where providers send people back to: one address of this server, which is registered there and entered here. */
import { providerNames } from '../../providers/registry.ts'
import type { Config } from './config.ts'
import { genericOidcProviders, providerSettings } from './provider-settings.ts'

/** The address to register with a provider. */
export function callbackUrl({
  AUTH_API_EXTERNAL_URL,
}: Pick<Config, 'AUTH_API_EXTERNAL_URL'>): string {
  return `${AUTH_API_EXTERNAL_URL}/callback`
}

/** A sentence for each provider that is switched on and sends people elsewhere. */
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
        `${variable} is ${redirectUri}, and this server takes people back at ${ours}: unless a proxy leads from the one to the other, register and enter that.`,
    )
}
