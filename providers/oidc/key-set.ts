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

/** More than providers publish. A token without a key id is verified with each of them. */
export const maxKeys = 100

/** Without certificates, which are not used, and lists of any length. */
const members = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e']

/** Leaves out unsupported keys (RFC 7517 §5). Returns undefined when none is left, or there are too many. */
export function readKeySet(document: unknown): LocalJWKSet | undefined {
  const listed = asList(getPath(document, 'keys'))
  if (listed.length > maxKeys) return undefined
  const keys = listed.flatMap(readPublicKey)
  return keys.length > 0 ? createLocalJWKSet({ keys }) : undefined
}

function readPublicKey(value: unknown): JWK[] {
  const entries = members.flatMap((name) => {
    const text = getPath(value, name)
    return typeof text === 'string' ? [[name, text] as const] : []
  })
  const key: JWK = Object.fromEntries(entries)
  try {
    createPublicKey({ key, format: 'jwk' })
    return [key]
  } catch {
    return []
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
