/** Conversion between JWKs (RFC 7517) and keys. Each key has one algorithm, which prevents algorithm confusion. */
import {
  CompactSign,
  type CryptoKey,
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose'

import { ApiError } from '../../../../schemas/errors.ts'
import type { PublicJwk } from '../../../../schemas/signing-key.ts'

/** The signer uses node:crypto keys, which need extractable ones. */
const extractable = true

/** Algorithms of generated keys. */
const generatedAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const
export type GeneratedAlgorithm = (typeof generatedAlgorithms)[number]

export function isGeneratedAlgorithm(alg: string): alg is GeneratedAlgorithm {
  return generatedAlgorithms.some((known) => known === alg)
}

export interface Key {
  /** Absent only for a shared secret without AUTH_JWT_KEY_ID. */
  kid: string | undefined
  alg: string
  key: CryptoKey
}

/** Allowed algorithms per key type, the default first. */
const algorithms: Record<string, string[]> = {
  RSA: ['RS256', 'RS512'],
  'EC P-256': ['ES256'],
  'EC P-521': ['ES512'],
  'OKP Ed25519': ['EdDSA'],
  oct: ['HS256'],
}

const publicMembers: Record<string, ('n' | 'e' | 'crv' | 'x' | 'y')[]> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
}

/** The JWK's own algorithm, or the default of its type. */
export function getAlgorithm(jwk: JWK): string {
  const kind = jwk.crv === undefined ? `${jwk.kty}` : `${jwk.kty} ${jwk.crv}`
  const fitting = algorithms[kind]
  if (!fitting) {
    const known = Object.keys(algorithms).join(', ')
    throw signingKeyRejected(`keys of type ${kind} are not supported; use one of ${known}`)
  }
  const alg = jwk.alg ?? fitting[0] ?? ''
  if (!fitting.includes(alg)) throw signingKeyRejected(`keys of type ${kind} do not support ${alg}`)
  return alg
}

/** The JWK's own id, or its thumbprint (RFC 7638). */
export async function signingKeyId(jwk: JWK): Promise<string> {
  return jwk.kid ?? (await calculateJwkThumbprint(jwk))
}

/** The public JWK of a key pair; undefined for a shared secret, which is never published. */
export async function publicPart(jwk: JWK): Promise<PublicJwk | undefined> {
  const members = publicMembers[jwk.kty ?? '']
  if (!members) return undefined
  return {
    ...Object.fromEntries(members.map((name) => [name, jwk[name]])),
    kty: `${jwk.kty}`,
    kid: await signingKeyId(jwk),
    alg: getAlgorithm(jwk),
    use: 'sig',
    key_ops: ['verify'],
  }
}

/** Throws when public and private part do not match: no token of the key would verify. */
export async function importSigningKey(jwk: JWK): Promise<Key> {
  if (jwk.kty === 'oct') return importSecret(jwk)
  const alg = getAlgorithm(jwk)
  if (jwk.d === undefined) throw signingKeyRejected('the private key is missing')
  try {
    const key = await toCryptoKey(jwk, 'sign')
    const probe = await new CompactSign(Buffer.of()).setProtectedHeader({ alg }).sign(key)
    await compactVerify(probe, (await importVerificationKey(jwk)).key)
    return { kid: await signingKeyId(jwk), alg, key }
  } catch (cause) {
    throw signingKeyRejected(
      'its public and private parts do not match, or it is shorter than RFC 7518 allows',
      cause,
    )
  }
}

export async function importVerificationKey(jwk: JWK): Promise<Key> {
  const shown = await publicPart(jwk)
  if (!shown) return importSecret(jwk)
  return {
    kid: await signingKeyId(jwk),
    alg: getAlgorithm(jwk),
    key: await toCryptoKey(shown, 'verify'),
  }
}

async function importSecret(jwk: JWK): Promise<Key> {
  getAlgorithm(jwk)
  return secretKey(Buffer.from(jwk.k ?? '', 'base64url'), await signingKeyId(jwk))
}

/** A secret shared with other token issuers; HMAC with SHA-256 only. The configuration checks its length. */
export async function secretKey(secret: Uint8Array, kid: string | undefined): Promise<Key> {
  const key = await crypto.subtle.importKey(
    'raw',
    Uint8Array.from(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    extractable,
    ['sign', 'verify'],
  )
  return { kid, alg: 'HS256', key }
}

async function toCryptoKey(jwk: JWK, use: 'sign' | 'verify'): Promise<CryptoKey> {
  const key = await importJWK({ ...jwk, key_ops: [use] }, getAlgorithm(jwk), { extractable })
  if (key instanceof Uint8Array) throw signingKeyRejected('a key pair is needed here, not a secret')
  return key
}

/** A new private JWK with its thumbprint as id. RSA keys have 2048 bits. */
export async function generateJwk(alg: GeneratedAlgorithm): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, alg, kid: await calculateJwkThumbprint(jwk) }
}

function signingKeyRejected(why: string, cause?: unknown) {
  return new ApiError(422, 'validation_failed', `Invalid signing key: ${why}`, { cause })
}
