/** Key rings out of what is configured and what is stored. */
import type { JWK } from 'jose'

import type { SigningKeyRow } from '../../../db/signing-keys.ts'
import type { Config } from '../../config/config.ts'
import { readConfiguredKeys } from './configured-keys.ts'
import { importSigningKey, importVerificationKey, publicPart, secretKey } from './key-material.ts'
import { createKeyRing, type KeyRing, type VerificationKey } from './key-ring.ts'

export type KeyRingConfig = Pick<
  Config,
  | 'AUTH_JWT_ACCEPT_SECRET'
  | 'AUTH_JWT_ALGORITHM'
  | 'AUTH_JWT_KEYS'
  | 'AUTH_JWT_KEY_ID'
  | 'AUTH_JWT_SECRET'
>

/** From AUTH_JWT_KEYS. */
export async function configuredRing(jwks: readonly JWK[], config: KeyRingConfig) {
  const keys = await readConfiguredKeys(jwks)
  return createKeyRing({ ...keys, secret: await acceptedSecret(config) })
}

/** `rows` are the keys that are not revoked. `privateJwk` decrypts the one that signs. */
export async function storedRing(
  rows: SigningKeyRow[],
  config: KeyRingConfig,
  privateJwk: (row: SigningKeyRow) => JWK,
): Promise<KeyRing> {
  const verifying = await Promise.all(rows.map(toVerificationKey))
  const secret = await acceptedSecret(config)
  if (config.AUTH_JWT_ALGORITHM === 'HS256') {
    return createKeyRing({ signing: await secretOf(config), verifying, secret })
  }
  const current = rows.find(({ state }) => state === 'current')
  if (!current) throw new Error('no signing key is current')
  const signing = await importSigningKey(privateJwk(current))
  return createKeyRing({ signing, verifying, secret })
}

async function toVerificationKey(row: SigningKeyRow): Promise<VerificationKey> {
  const publicJwk = await publicPart(row.public_jwk)
  const retiresAt = row.state === 'previous' ? (row.retires_at ?? undefined) : undefined
  return { ...(await importVerificationKey(row.public_jwk)), publicJwk, retiresAt }
}

function secretOf({ AUTH_JWT_SECRET, AUTH_JWT_KEY_ID }: KeyRingConfig) {
  return secretKey(Buffer.from(AUTH_JWT_SECRET), AUTH_JWT_KEY_ID)
}

async function acceptedSecret(config: KeyRingConfig) {
  return config.AUTH_JWT_ACCEPT_SECRET ? secretOf(config) : undefined
}
