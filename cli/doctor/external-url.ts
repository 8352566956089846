/** Checks from outside: the key set at the issuer URL, and the TLS certificate. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { checkCurrentKey } from './current-key.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'

const timeoutMs = 10_000
/** Remaining days at which automatic renewal should have happened. */
const minRemainingDays = 14

const KeySet = Type.Object({ keys: Type.Array(Type.Object({ kid: Type.Optional(Type.String()) })) })

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
