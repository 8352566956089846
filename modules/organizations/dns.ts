/** Looks up the TXT record that verifies an organization's control of a domain. */
import { Resolver } from 'node:dns/promises'

import type { Deps } from '../../plugins/define-plugin.ts'

const timeoutMs = 3_000
const prefix = 'postern-domain-verification='

interface DnsRecord {
  name: string
  type: 'TXT'
  value: string
}

export const toDnsRecord = (domain: string, token: string): DnsRecord => ({
  name: `_postern-challenge.${domain}`,
  type: 'TXT',
  value: `${prefix}${token}`,
})

/** Whether the record exists. No response counts as no record. */
export async function hasDnsRecord(
  { config }: Deps<'config'>,
  { name, value }: DnsRecord,
): Promise<boolean> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  const servers = config.AUTH_ORGANIZATIONS_DNS_SERVERS
  if (servers) resolver.setServers(servers)
  try {
    const records = await resolver.resolveTxt(name)
    return records.some((parts) => parts.join('').trim() === value)
  } catch {
    return false
  }
}
