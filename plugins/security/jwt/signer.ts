/**
 * Compact JWS (RFC 7515 §7.1), signed by node:crypto. jose uses Web Crypto, which runs each signature on another
 * thread; an HMAC or an elliptic curve signature takes less time than that switch.
 */
import { createHmac, KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

import type { Key } from './signing-keys/key-material.ts'

export type Signer = (claims: object) => Promise<string>

const signInThread = promisify(sign)

/** The digest of each algorithm (RFC 7518 §3.1); Ed25519 has its own (RFC 8037). */
const digests: Record<string, string | null> = {
  HS256: 'sha256',
  RS256: 'sha256',
  RS512: 'sha512',
  ES256: 'sha256',
  ES512: 'sha512',
  EdDSA: null,
}

/** Signs with this key; the header is encoded once. */
export function createSigner({ kid, alg, key }: Key): Signer {
  const header = base64url(JSON.stringify({ alg, typ: 'JWT', ...(kid !== undefined && { kid }) }))
  const createSignature = signatures(alg, KeyObject.from(key))
  return async (claims) => {
    const input = `${header}.${base64url(JSON.stringify(claims))}`
    const signature = await createSignature(input)
    return `${input}.${signature.toString('base64url')}`
  }
}

function signatures(alg: string, key: KeyObject): (input: string) => Buffer | Promise<Buffer> {
  const digest = digests[alg]
  if (digest === undefined) throw new Error(`tokens are not signed with ${alg}`)
  if (alg === 'HS256') return (input) => createHmac('sha256', key).update(input).digest()
  // RSA is slow enough to run on another thread.
  if (alg.startsWith('RS')) return (input) => signInThread(digest, Buffer.from(input), key)
  const options = { key, dsaEncoding: 'ieee-p1363' } as const
  return (input) => sign(digest, Buffer.from(input), options)
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
