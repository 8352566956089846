/** Checks whether client addresses are known, which rate limits and the audit log use. */
import { type DoctorContext, type DoctorFinding, pass, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

export function checkProxies({ config }: DoctorContext): DoctorFinding[] {
  const { AUTH_RATE_LIMIT_HEADER, AUTH_TRUSTED_PROXIES } = config
  const isLimited =
    AUTH_RATE_LIMIT_HEADER !== undefined || config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  // Without any setting, the configuration prints a notice.
  const limits = isLimited
    ? [pass('Requests are limited by the client address from your proxy.')]
    : []
  return [
    ...limits,
    ...AUTH_TRUSTED_PROXIES.filter((network) => /\/0$/.test(network)).map((network) =>
      warn(
        `AUTH_TRUSTED_PROXIES has ${network}: clients can forge any address. List your proxies only.`,
      ),
    ),
    ...(AUTH_TRUSTED_PROXIES.every(isThisMachine) && isBehindProxy(config.AUTH_API_EXTERNAL_URL)
      ? [
          warn(
            'Only proxies on this machine are trusted: if yours is on another one, add it to AUTH_TRUSTED_PROXIES.',
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
