/**
 * Builds key rings from stored keys, or from those of AUTH_JWT_KEYS: the operator manages these, and the server
 * creates, stores and rotates none.
 */
import type { JWK } from 'jose'

import type { Config } from '../../../../config/groups/index.ts'
import type { SigningKeyRow } from '../../../../db/keys/signing-keys.ts'
import { isRecord } from '../../../../schemas/values/record.ts'
import {
  importSigningKey,
  importVerificationKey,
  type Key,
  publicPart,
  secretKey,
} from './key-material.ts'
import { createKeyRing, type KeyRing, type VerificationKey } from './key-ring.ts'

export type KeyRingConfig = Pick<
  Config,
  | 'AUTH_JWT_ACCEPT_SECRET'
  | 'AUTH_JWT_ALGORITHM'
  | 'AUTH_JWT_KEYS'
  | 'AUTH_JWT_KEY_ID'
  | 'AUTH_JWT_SECRET'
  | 'AUTH_OAUTH_SERVER_ENABLED'
>

/** From AUTH_JWT_KEYS; `idTokenKey` is the stored key for ID tokens where the configured one is a shared secret. */
export async function configuredRing(
  jwks: readonly JWK[],
  config: KeyRingConfig,
  idTokenKey?: { row: SigningKeyRow; privateJwk: (row: SigningKeyRow) => JWK },
) {
  const keys = await readConfiguredKeys(jwks)
  const secret = await acceptedSecret(config)
  if (!idTokenKey) return createKeyRing({ ...keys, secret })
  const { row, privateJwk } = idTokenKey
  const verifying = [...keys.verifying, await toVerificationKey(row)]
  const idTokens = await importSigningKey(privateJwk(row))
  return createKeyRing({ signing: keys.signing, verifying, idTokens, secret })
}

/** `rows` are the keys that are not revoked. `privateJwk` decrypts the one that signs. */
export async function storedRing(
  rows: SigningKeyRow[],
  config: KeyRingConfig,
  privateJwk: (row: SigningKeyRow) => JWK,
): Promise<KeyRing> {
  const current = rows.find(({ state }) => state === 'current')
  // One that another program has overwritten verifies nothing. The current one signs, so it cannot be left out.
  const readable = rows.filter((row) => row === current || isReadable(row))
  const verifying = await Promise.all(readable.map(toVerificationKey))
  const secret = await acceptedSecret(config)
  if (config.AUTH_JWT_ALGORITHM === 'HS256') {
    const signing = await getSecretKey(config)
    const signsIdTokens = config.AUTH_OAUTH_SERVER_ENABLED && current
    const idTokens = signsIdTokens ? await importSigningKey(privateJwk(current)) : undefined
    return createKeyRing({ signing, verifying, idTokens, secret })
  }
  if (!current) throw new Error('no signing key is current')
  const signing = await importSigningKey(privateJwk(current))
  return createKeyRing({ signing, verifying, secret })
}

const isReadable = ({ public_jwk }: SigningKeyRow) => isRecord(public_jwk) && 'kty' in public_jwk

async function toVerificationKey(row: SigningKeyRow): Promise<VerificationKey> {
  if (!isReadable(row)) {
    throw new Error(`postern_signing_keys has no readable public_jwk for the key ${row.kid}`)
  }
  const publicJwk = await publicPart(row.public_jwk)
  const retiresAt = row.state === 'previous' ? (row.retires_at ?? undefined) : undefined
  return { ...(await importVerificationKey(row.public_jwk)), publicJwk, retiresAt }
}

function getSecretKey({ AUTH_JWT_SECRET, AUTH_JWT_KEY_ID }: KeyRingConfig) {
  return secretKey(Buffer.from(AUTH_JWT_SECRET), AUTH_JWT_KEY_ID)
}

async function acceptedSecret(config: KeyRingConfig) {
  return config.AUTH_JWT_ACCEPT_SECRET ? getSecretKey(config) : undefined
}

interface ConfiguredKeys {
  signing: Key
  verifying: VerificationKey[]
}

/** Throws an Error that names the variable unless exactly one key signs and all are usable. */
async function readConfiguredKeys(jwks: readonly JWK[]): Promise<ConfiguredKeys> {
  const [jwk, ...others] = jwks.filter(({ key_ops }) => key_ops?.includes('sign'))
  if (!jwk || others.length > 0) {
    throw new Error('AUTH_JWT_KEYS: exactly one key has to have "sign" in its key_ops.')
  }
  try {
    const verifying = await Promise.all(jwks.map(toConfiguredKey))
    return { signing: await importSigningKey(jwk), verifying }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'a key cannot be read'
    throw new Error(`AUTH_JWT_KEYS: ${why}`, { cause })
  }
}

async function toConfiguredKey(jwk: JWK): Promise<VerificationKey> {
  return { ...(await importVerificationKey(jwk)), publicJwk: await publicPart(jwk) }
}
