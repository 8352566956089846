/** Checks the URLs that users are redirected to, the trusted proxies, and the server from outside. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Config } from '../../config/groups/index.ts'
import { genericOidcProviders, providerSettings } from '../../config/groups/provider-settings.ts'
import { callbackUrl } from '../../config/rules/redirect-notices.ts'
import { providerNames } from '../../providers/registry.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  isLocalHost,
  pass,
  warn,
} from './finding.ts'
import { checkCurrentKey } from './keys.ts'

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

/** Checks whether client addresses are known, which rate limits and the audit log use. */
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

const timeoutMs = 10_000
/** Remaining days at which automatic renewal should have happened. */
const minRemainingDays = 14

const KeySet = Type.Object({ keys: Type.Array(Type.Object({ kid: Type.Optional(Type.String()) })) })

/** Checks from outside: the key set at the issuer URL, and the TLS certificate. */
export async function checkExternalUrl(context: DoctorContext): Promise<DoctorFinding[]> {
  const base = context.config.AUTH_API_EXTERNAL_URL
  const [keySet, lifetime] = await Promise.all([
    publishedKeys(`${base}/.well-known/jwks.json`, context),
    certificate(new URL(base), context.now),
  ])
  return [...keySet, ...lifetime]
}

async function publishedKeys(url: string, context: DoctorContext): Promise<DoctorFinding[]> {
  let response: Response
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    response = await context.fetch(url, { redirect: 'manual', signal })
  } catch (error) {
    return [
      fail(
        `${url} cannot be reached from here (${describeError(error)}): check that the server runs, and check the proxy, DNS name and certificate.`,
      ),
    ]
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status !== 200 || !Value.Check(KeySet, body)) {
    const hint = 'check where the proxy forwards it, and whether AUTH_API_EXTERNAL_URL is correct'
    return [fail(`${url} returns status ${response.status} and no key set: ${hint}.`)]
  }
  return [
    await checkSigningKey(body.keys, context, url),
    ...(url.startsWith('https:') && !response.headers.has('strict-transport-security')
      ? [warn('Responses have no Strict-Transport-Security header: let the proxy add it.')]
      : []),
  ]
}

/** The URL may belong to another server, or to one with another database. */
async function checkSigningKey(
  keys: { kid?: string }[],
  context: DoctorContext,
  url: string,
): Promise<DoctorFinding> {
  const reached = pass(`${url} can be reached from here.`)
  const { AUTH_JWT_KEYS, AUTH_JWT_ALGORITHM } = context.config
  if (AUTH_JWT_KEYS || AUTH_JWT_ALGORITHM === 'HS256') return reached
  const current = await checkCurrentKey(context)
  if (!current || keys.some(({ kid }) => kid === current.kid)) return reached
  return fail(
    `${url} does not publish the signing key of this database: another server responds there.`,
  )
}

async function certificate({ protocol, hostname, port }: URL, now: Date): Promise<DoctorFinding[]> {
  if (protocol !== 'https:') return []
  const until = await readExpiry(hostname.replace(/^\[|\]$/g, ''), Number(port || 443))
  // An unreachable server is reported by the check of the key set.
  if (!until) return []
  const days = Math.floor((until.getTime() - now.getTime()) / 86_400_000)
  const fact = `The certificate of ${hostname} is valid for ${days} days`
  if (days > minRemainingDays) return [pass(`${fact}.`)]
  return [warn(`${fact}: check that it is renewed automatically.`)]
}

function readExpiry(host: string, port: number): Promise<Date | undefined> {
  return new Promise((resolve) => {
    // Trust is checked by the fetch; here the certificate is only read.
    const name = isIP(host) ? {} : { servername: host }
    const socket = connect({ host, port, ...name, rejectUnauthorized: false })
    socket.setTimeout(timeoutMs, () => socket.destroy())
    socket.once('secureConnect', () => {
      resolve(new Date(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
    socket.once('error', () => resolve(undefined))
    socket.once('close', () => resolve(undefined))
  })
}
