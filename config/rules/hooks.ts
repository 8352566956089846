/** Hooks and webhooks: the addresses that this server calls. */
import type { ConfigIssue } from '../core/config-error.ts'
import { hookNames } from '../groups/hooks.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

const localHosts = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']

export function hooksRule(config: Config): ConfigIssue[] {
  return hookNames.flatMap((name) => {
    if (!config[`AUTH_HOOK_${name}_ENABLED`]) return []
    const uri = config[`AUTH_HOOK_${name}_URI`]
    return uri === undefined
      ? missing(config, [`AUTH_HOOK_${name}_URI`], `AUTH_HOOK_${name}_ENABLED is true`)
      : invalidUri(`AUTH_HOOK_${name}_URI`, new URL(uri))
  })
}

function invalidUri(
  variable: string,
  { protocol, hostname, pathname, username }: URL,
): ConfigIssue[] {
  if (protocol !== 'pg-functions:' && username !== '') {
    const hint =
      'requests are signed instead: configure the receiver with the secret of AUTH_HOOK_..._SECRETS'
    return [{ variable, problem: 'contains a user name', hint }]
  }
  if (protocol === 'http:' && !localHosts.includes(hostname)) {
    const hint = 'it must be an https:// URL, because requests contain user data'
    return [{ variable, problem: 'is not encrypted', hint }]
  }
  if (protocol === 'pg-functions:' && !namesFunction(pathname)) {
    const hint = 'it must be pg-functions://postgres/<schema>/<function>'
    return [{ variable, problem: 'is not a database function', hint }]
  }
  return []
}

function namesFunction(pathname: string): boolean {
  if (!/^\/[^/]+\/[^/]+$/.test(pathname)) return false
  try {
    decodeURIComponent(pathname)
    return true
  } catch {
    return false
  }
}

/** URLs that events may not be sent to; those that admins enter are rejected for the same reason. */
export function webhooksRule(config: Config): ConfigIssue[] {
  const isOpen = config.dev || config.AUTH_WEBHOOK_PRIVATE_ADDRESSES
  return config.AUTH_WEBHOOK_ENDPOINTS.flatMap(({ url }) => invalidEndpoint(new URL(url), isOpen))
}

function invalidEndpoint(url: URL, isOpen: boolean): ConfigIssue[] {
  const variable = 'AUTH_WEBHOOK_ENDPOINTS'
  const { host, protocol } = url
  if (url.username || url.password) {
    const hint = 'events are signed instead: the receiver verifies them with one of the secrets'
    return [{ variable, problem: `has credentials in the URL of ${host}`, hint }]
  }
  if (isOpen || protocol === 'https:') return []
  const hint = 'it must be a public https:// URL, unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is true'
  return [{ variable, problem: `has ${protocol}//${host}`, hint }]
}
