/** This server as others see it: its key set at the address that tokens name, and the certificate in front of it. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { currentKey } from './current-key.ts'
import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'

const timeoutMs = 10_000
/** Days of life that a certificate is renewed before the end of, by what renews it by itself. */
const shortLife = 14

const KeySet = Type.Object({ keys: Type.Array(Type.Object({ kid: Type.Optional(Type.String()) })) })

export async function outside(surroundings: Surroundings): Promise<Finding[]> {
  const base = surroundings.config.AUTH_API_EXTERNAL_URL
  const [keySet, lifetime] = await Promise.all([
    publishedKeys(`${base}/.well-known/jwks.json`, surroundings),
    certificate(new URL(base), surroundings.now),
  ])
  return [...keySet, ...lifetime]
}

async function publishedKeys(url: string, surroundings: Surroundings): Promise<Finding[]> {
  let response: Response
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    response = await surroundings.fetch(url, { redirect: 'manual', signal })
  } catch (error) {
    return [
      fail(
        `${url} cannot be reached from here (${reasonOf(error)}): look whether the server runs, and at its proxy, name and certificate.`,
      ),
    ]
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status !== 200 || !Value.Check(KeySet, body)) {
    const remedy = 'look where the proxy sends it, and whether AUTH_API_EXTERNAL_URL is right'
    return [fail(`${url} answers ${response.status} and no key set: ${remedy}.`)]
  }
  return [
    await ours(body.keys, surroundings, url),
    ...(url.startsWith('https:') && !response.headers.has('strict-transport-security')
      ? [warn('No Strict-Transport-Security comes with the answers: let the proxy add it.')]
      : []),
  ]
}

/** Another server may be at this address, or one with another database. */
async function ours(
  keys: { kid?: string }[],
  surroundings: Surroundings,
  url: string,
): Promise<Finding> {
  const reached = pass(`${url} is reached from here.`)
  const { AUTH_JWT_KEYS, AUTH_JWT_ALGORITHM } = surroundings.config
  if (AUTH_JWT_KEYS || AUTH_JWT_ALGORITHM === 'HS256') return reached
  const current = await currentKey(surroundings)
  if (!current || keys.some(({ kid }) => kid === current.kid)) return reached
  return fail(
    `${url} does not have the key that this database signs with: another server answers there.`,
  )
}

async function certificate({ protocol, hostname, port }: URL, now: Date): Promise<Finding[]> {
  if (protocol !== 'https:') return []
  const until = await expiryOf(hostname.replace(/^\[|\]$/g, ''), Number(port || 443))
  // What keeps it from being seen is told with the key set.
  if (!until) return []
  const days = Math.floor((until.getTime() - now.getTime()) / 86_400_000)
  const fact = `The certificate of ${hostname} is good for ${days} days`
  if (days > shortLife) return [pass(`${fact}.`)]
  return [warn(`${fact}: look whether it is renewed by itself.`)]
}

function expiryOf(host: string, port: number): Promise<Date | undefined> {
  return new Promise((resolve) => {
    // Whether it is trusted is for whoever fetches; here it is read.
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
