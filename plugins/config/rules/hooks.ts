import type { Config } from '../config.ts'
import { hookNames } from '../groups/hooks.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

const localHosts = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']

export function hooksRule(config: Config): Mistake[] {
  return hookNames.flatMap((name) => {
    if (!config[`AUTH_HOOK_${name}_ENABLED`]) return []
    const uri = config[`AUTH_HOOK_${name}_URI`]
    return uri === undefined
      ? missing(config, [`AUTH_HOOK_${name}_URI`], `AUTH_HOOK_${name}_ENABLED is true`)
      : wrongUri(`AUTH_HOOK_${name}_URI`, new URL(uri))
  })
}

function wrongUri(variable: string, { protocol, hostname, pathname, username }: URL): Mistake[] {
  if (protocol !== 'pg-functions:' && username !== '') {
    const remedy =
      'requests are signed instead: give its receiver the secret of AUTH_HOOK_..._SECRETS'
    return [{ variable, problem: 'holds a user name', remedy }]
  }
  if (protocol === 'http:' && !localHosts.includes(hostname)) {
    const remedy = 'it must be an https:// address, because people’s data travels over it'
    return [{ variable, problem: 'is an unencrypted address', remedy }]
  }
  if (protocol === 'pg-functions:' && !namesFunction(pathname)) {
    const remedy = 'it must be pg-functions://postgres/<schema>/<function>'
    return [{ variable, problem: 'names no database function', remedy }]
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
