/** AUTH_JWT_KEYS: keys managed by the operator; then the server creates, stores and rotates none. */
import type { JWK } from 'jose'

import { importSigningKey, importVerificationKey, type Key, publicPart } from './key-material.ts'
import type { VerificationKey } from './key-ring.ts'

interface ConfiguredKeys {
  signing: Key
  verifying: VerificationKey[]
}

/** Throws an Error that names the variable unless exactly one key signs and all are usable. */
export async function readConfiguredKeys(jwks: readonly JWK[]): Promise<ConfiguredKeys> {
  const [jwk, ...others] = jwks.filter(({ key_ops }) => key_ops?.includes('sign'))
  if (!jwk || others.length > 0) {
    throw new Error('AUTH_JWT_KEYS: exactly one key has to have "sign" in its key_ops.')
  }
  try {
    const verifying = await Promise.all(jwks.map(toVerificationKey))
    return { signing: await importSigningKey(jwk), verifying }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'a key cannot be read'
    throw new Error(`AUTH_JWT_KEYS: ${why}`, { cause })
  }
}

async function toVerificationKey(jwk: JWK): Promise<VerificationKey> {
  return { ...(await importVerificationKey(jwk)), publicJwk: await publicPart(jwk) }
}
