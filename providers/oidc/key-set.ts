/** Key sets of OpenID providers (RFC 7517 §5), and token verification with them. */
import { createPublicKey } from 'node:crypto'

import {
  createLocalJWKSet,
  errors,
  type JWK,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
  type LocalJWKSet,
} from 'jose'

import { asList, getPath } from '../http/json.ts'

/** Leaves out unsupported keys (RFC 7517 §5). Returns undefined when none is left. */
export function readKeySet(document: unknown): LocalJWKSet | undefined {
  const keys = asList(getPath(document, 'keys')).filter(isPublicKey)
  return keys.length > 0 ? createLocalJWKSet({ keys }) : undefined
}

function isPublicKey(value: unknown): value is JWK {
  if (typeof value !== 'object' || value === null) return false
  try {
    createPublicKey({ key: { ...value }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

/** Tries each key that matches the token's header. Throws the errors of jwtVerify. */
export async function verifyWith(
  keys: LocalJWKSet,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      return verifyWithOne(error, token, options)
    }
    throw error
  }
}

async function verifyWithOne(
  keys: errors.JWKSMultipleMatchingKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options)
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}
