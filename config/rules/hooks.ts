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
