/** Checks the URLs that users are redirected to: https, and sites of the operator. */
import type { Config } from '../../config/groups/index.ts'
import { genericOidcProviders, providerSettings } from '../../config/groups/provider-settings.ts'
import { callbackUrl } from '../../config/rules/redirect-notices.ts'
import { providerNames } from '../../providers/registry.ts'
import { type DoctorContext, type DoctorFinding, fail, pass, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

export function checkAddresses({ config }: DoctorContext): DoctorFinding[] {
  const { AUTH_SITE_URL, AUTH_API_EXTERNAL_URL } = config
  return [
    ...Object.entries({ AUTH_SITE_URL, AUTH_API_EXTERNAL_URL }).map(secure),
    ...config.AUTH_URI_ALLOW_LIST.flatMap(allowed),
    ...callbacks(config),
  ]
}

function secure([variable, address]: [string, string]): DoctorFinding {
  const { protocol, hostname } = new URL(address)
  if (protocol === 'https:') return pass(`${variable} uses https.`)
  if (isLocalHost(hostname)) {
    return warn(`${variable} is ${address}: only this machine can reach it.`)
  }
  return fail(`${variable} is ${address}: links and tokens would be sent unencrypted. Use https.`)
}

function allowed(pattern: string): DoctorFinding[] {
  const [, scheme = '', host = ''] = /^([a-z*]+):\/\/([^/]*)/i.exec(pattern) ?? []
  const name = host.replace(/:[^:\]]*$/, '')
  if (/^\*+$/.test(name.split('.').slice(-2).join('')) || name.startsWith('**')) {
    return [
      warn(`AUTH_URI_ALLOW_LIST has ${pattern}: the owner of any matching host receives tokens.`),
    ]
  }
  if (scheme === 'http' && !isLocalHost(name)) {
    return [
      warn(`AUTH_URI_ALLOW_LIST has ${pattern}: tokens would be sent unencrypted. Use https.`),
    ]
  }
  return []
}

/** A provider with another redirect URI than this server's cannot complete a sign-in. */
function callbacks(config: Config): DoctorFinding[] {
  const expected = callbackUrl(config)
  const named = providerNames.map((name) => providerSettings(config, name))
  return [...named, ...genericOidcProviders(config)]
    .filter(({ enabled, idTokenOnly }) => enabled && !idTokenOnly)
    .flatMap(({ name, redirectUri = '' }) => {
      const { origin, pathname } = new URL(redirectUri)
      if (origin === new URL(expected).origin && pathname.endsWith('/callback')) {
        return [pass(`${name} redirects to this server.`)]
      }
      return [warn(`${name} redirects to ${redirectUri}, but this server is at ${expected}.`)]
    })
}
