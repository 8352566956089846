import type { JWK } from 'jose'

import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'

const variable = 'AUTH_JWT_KEYS'

/** Which algorithms go with which kind of key (RFC 7518 §3.1, RFC 8037 §3.1). */
const algorithms: Record<string, string[]> = {
  oct: ['HS256'],
  RSA: ['RS256', 'RS512'],
  EC: ['ES256', 'ES512'],
  OKP: ['EdDSA'],
}

export function jwtRule(config: Config): Mistake[] {
  return [
    ...secretMistakes(config),
    ...(config.AUTH_JWT_KEYS ? keyMistakes(config.AUTH_JWT_KEYS) : []),
  ]
}

function secretMistakes(config: Config): Mistake[] {
  const signsWithSecret = config.AUTH_JWT_ALGORITHM === 'HS256' && !config.AUTH_JWT_KEYS
  if (!signsWithSecret || config.AUTH_JWT_ACCEPT_SECRET) return []
  const remedy = 'it must be true while AUTH_JWT_ALGORITHM is HS256, or no token would be accepted'
  return [{ variable: 'AUTH_JWT_ACCEPT_SECRET', problem: 'is false', remedy }]
}

function keyMistakes(keys: JWK[]): Mistake[] {
  const signing = keys.filter((key) => key.key_ops?.includes('sign'))
  const wrong = keys.flatMap((key, index) => wrongKey(key, index + 1))
  if (signing.length === 1) return [...wrong, ...repeatedIds(keys)]
  const problem = signing.length === 0 ? 'has no signing key' : `has ${signing.length} signing keys`
  const remedy = 'exactly one key must have "key_ops": ["sign"]'
  return [{ variable, problem, remedy }, ...wrong]
}

function wrongKey(key: JWK, place: number): Mistake[] {
  const allowed = algorithms[key.kty ?? ''] ?? []
  if (!allowed.includes(key.alg ?? 'HS256')) {
    const problem = `has "kty": "${key.kty}" with "alg": "${key.alg}" in key ${place}`
    const remedy =
      'RSA keys need RS256 or RS512, EC keys ES256 or ES512, OKP keys EdDSA, oct keys HS256'
    return [{ variable, problem, remedy }]
  }
  if (key.key_ops?.includes('sign') && key.kty !== 'oct' && key.d === undefined) {
    const remedy = 'the signing key must have its private part "d"'
    return [{ variable, problem: `has only the public part of key ${place}`, remedy }]
  }
  if (key.kty === 'oct' && Buffer.byteLength(key.k ?? '', 'base64url') < 32) {
    const remedy = '"k" must hold 32 bytes or more as base64url'
    return [{ variable, problem: `has a key ${place} that is too short`, remedy }]
  }
  return []
}

function repeatedIds(keys: JWK[]): Mistake[] {
  const ids = keys.map((key) => key.kid)
  if (keys.length === 1 || (new Set(ids).size === ids.length && !ids.includes(undefined))) return []
  const remedy = 'of several keys, each must have a "kid" of its own'
  return [{ variable, problem: 'has keys that cannot be told apart', remedy }]
}
