/** Compares configured redirect URIs with this server's callback URLs. */
import { providerNames } from '../../providers/registry.ts'
import {
  isOwnCallback,
  ownCallbackUrl,
  sharedCallbackUrl,
} from '../../schemas/values/callback-urls.ts'
import type { Config } from '../groups/index.ts'
import {
  genericOidcProviders,
  type ProviderVariables,
  providerSettings,
} from '../groups/provider-settings.ts'

interface Redirected extends ProviderVariables {
  variable: string
  redirectUri: string
}

/** The callback URL to register at a provider. */
export function callbackUrl({
  AUTH_API_EXTERNAL_URL,
}: Pick<Config, 'AUTH_API_EXTERNAL_URL'>): string {
  return sharedCallbackUrl(AUTH_API_EXTERNAL_URL)
}

/** A sentence for each enabled provider with another redirect URI, or with one that it should not share. */
export function redirectNotices(config: Config): string[] {
  const redirected = listRedirected(config)
  return [...unknownUris(config, redirected), ...sharedUris(config, redirected)]
}

function listRedirected(config: Config): Redirected[] {
  const named = providerNames.map((name) => ({
    ...providerSettings(config, name),
    variable: `AUTH_EXTERNAL_${name.toUpperCase()}_REDIRECT_URI`,
  }))
  const generic = genericOidcProviders(config).map((settings) => ({
    ...settings,
    variable: `AUTH_EXTERNAL_OIDC_${settings.name.toUpperCase()}_REDIRECT_URI`,
  }))
  return [...named, ...generic].flatMap((settings) => {
    const { enabled, redirectUri } = settings
    return enabled && redirectUri ? [{ ...settings, redirectUri }] : []
  })
}

function unknownUris(config: Config, redirected: readonly Redirected[]): string[] {
  const { AUTH_API_EXTERNAL_URL: base, AUTH_API_PREFIX: prefix } = config
  return redirected.flatMap(({ name, variable, redirectUri }) => {
    const known = [base, base + prefix].flatMap((each) => [
      sharedCallbackUrl(each),
      ownCallbackUrl(each, name),
    ])
    if (known.includes(redirectUri)) return []
    return `${variable} is ${redirectUri}, but the callback of this server is ${sharedCallbackUrl(base)}: unless a proxy forwards the former to the latter, register and set the latter.`
  })
}

/** A server of another operator, beside a provider whose codes it could obtain (RFC 9700 §4.4). */
function sharedUris(config: Config, redirected: readonly Redirected[]): string[] {
  const sharing = redirected.filter(
    ({ name, redirectUri, idTokenOnly }) => !idTokenOnly && !isOwnCallback(redirectUri, name),
  )
  if (sharing.length < 2) return []
  return sharing
    .filter(({ url }) => url !== undefined)
    .map(
      ({ name, variable }) =>
        `${variable} is also that of other providers: the operator of the server of ${name} could sign in as their users. Register ${ownCallbackUrl(config.AUTH_API_EXTERNAL_URL, name)} there, and set it (docs/external-sign-in.md).`,
    )
}
