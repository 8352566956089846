/** Where people are sent: over https, and to the operator's own sites. */
import type { Config } from '../../plugins/config/config.ts'
import { genericOidcProviders, providerSettings } from '../../plugins/config/provider-settings.ts'
import { callbackUrl } from '../../plugins/config/redirect-notices.ts'
import { providerNames } from '../../providers/registry.ts'
import { type Finding, fail, pass, type Surroundings, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

export function addresses({ config }: Surroundings): Finding[] {
  const { AUTH_SITE_URL, AUTH_API_EXTERNAL_URL } = config
  return [
    ...Object.entries({ AUTH_SITE_URL, AUTH_API_EXTERNAL_URL }).map(secure),
    ...config.AUTH_URI_ALLOW_LIST.flatMap(allowed),
    ...callbacks(config),
  ]
}

function secure([variable, address]: [string, string]): Finding {
  const { protocol, hostname } = new URL(address)
  if (protocol === 'https:') return pass(`${variable} is over https.`)
  if (isLocalHost(hostname)) {
    return warn(`${variable} is ${address}: nobody but this machine reaches it.`)
  }
  return fail(`${variable} is ${address}: links and tokens would go in clear. Use https.`)
}

function allowed(pattern: string): Finding[] {
  const [, scheme = '', host = ''] = /^([a-z*]+):\/\/([^/]*)/i.exec(pattern) ?? []
  const name = host.replace(/:[^:\]]*$/, '')
  if (/^\*+$/.test(name.split('.').slice(-2).join('')) || name.startsWith('**')) {
    return [
      warn(`AUTH_URI_ALLOW_LIST has ${pattern}: whoever owns a host that fits gets the tokens.`),
    ]
  }
  if (scheme === 'http' && !isLocalHost(name)) {
    return [warn(`AUTH_URI_ALLOW_LIST has ${pattern}: tokens would go there in clear. Use https.`)]
  }
  return []
}

/** A provider that sends people elsewhere than to this server never signs them in. */
function callbacks(config: Config): Finding[] {
  const expected = callbackUrl(config)
  const named = providerNames.map((name) => providerSettings(config, name))
  return [...named, ...genericOidcProviders(config)]
    .filter(({ enabled, idTokenOnly }) => enabled && !idTokenOnly)
    .flatMap(({ name, redirectUri = '' }) => {
      const { origin, pathname } = new URL(redirectUri)
      if (origin === new URL(expected).origin && pathname.endsWith('/callback')) {
        return [pass(`${name} sends people back to this server.`)]
      }
      return [warn(`${name} sends people back to ${redirectUri}; this server is at ${expected}.`)]
    })
}
