/** Whether the address of a client is known, which limits and the audit trail count by. */
import { type Finding, pass, type Surroundings, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

export function proxies({ config }: Surroundings): Finding[] {
  const { AUTH_RATE_LIMIT_HEADER, AUTH_TRUSTED_PROXIES } = config
  const isLimited =
    AUTH_RATE_LIMIT_HEADER !== undefined || config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  // Where nothing tells it, the configuration's own notice says so.
  const limits = isLimited
    ? [pass('Requests are limited by the address that your proxy tells.')]
    : []
  return [
    ...limits,
    ...AUTH_TRUSTED_PROXIES.filter((network) => /\/0$/.test(network)).map((network) =>
      warn(
        `AUTH_TRUSTED_PROXIES has ${network}: everybody can claim any address. Name your proxies only.`,
      ),
    ),
    ...(AUTH_TRUSTED_PROXIES.every(isThisMachine) && isBehindProxy(config.AUTH_API_EXTERNAL_URL)
      ? [
          warn(
            'Only proxies on this machine are trusted: when yours is on another one, add it to AUTH_TRUSTED_PROXIES.',
          ),
        ]
      : []),
  ]
}

const isThisMachine = (network: string) => isLocalHost(network.split('/')[0] ?? '')

function isBehindProxy(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' && !isLocalHost(hostname)
}
