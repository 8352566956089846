import { Resolver } from 'node:dns'

import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

export function organizationsRule(config: Config): ConfigIssue[] {
  const variable = 'AUTH_ORGANIZATIONS_DNS_SERVERS'
  const servers = config[variable] ?? []
  if (servers.every(isAddress)) return []
  const hint = 'it must list IP addresses, with a port where it is not 53: 10.0.0.2,10.0.0.3:5353'
  return [{ variable, problem: 'contains an entry that is not the address of a DNS server', hint }]
}

function isAddress(server: string): boolean {
  try {
    new Resolver().setServers([server])
    return true
  } catch {
    return false
  }
}
