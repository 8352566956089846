import type { JWK } from 'jose'

import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { signingAlgorithm } from '../signing-algorithm.ts'
import { weaknessOf } from '../weak-secret.ts'

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
    ...lengthMistakes(config),
    ...secretMistakes(config),
    ...methodsMistakes(config),
    ...adminRoleMistakes(config),
    ...(config.AUTH_JWT_KEYS ? keyMistakes(config.AUTH_JWT_KEYS, config.dev) : []),
  ]
}

/** RFC 7518 §3.2. */
const leastBytes = 32
const asBefore = 'it is used all the same, and can be found by trying'

function lengthMistakes({ AUTH_JWT_SECRET: secret, dev }: Config): Mistake[] {
  if (secret === undefined || !isTooShort(Buffer.from(secret), dev)) return []
  const remedy = `it must be ${leastBytes} bytes long or more, such as the output of \`openssl rand -base64 48\``
  const problem = 'is too short'
  return [{ variable: 'AUTH_JWT_SECRET', problem, remedy, inGotrue: asBefore }]
}

/** What can be guessed is a mistake by itself outside development mode (secrets.ts), however long it is. */
function isTooShort(secret: Buffer, dev: boolean): boolean {
  if (secret.length >= leastBytes) return false
  return dev || weaknessOf(secret.toString('latin1')) === undefined
}

function secretMistakes(config: Config): Mistake[] {
  const signsWithSecret = config.AUTH_JWT_ALGORITHM === 'HS256' && !config.AUTH_JWT_KEYS
  if (!signsWithSecret || config.AUTH_JWT_ACCEPT_SECRET) return []
  const remedy = 'it must be true while AUTH_JWT_ALGORITHM is HS256, or no token would be accepted'
  return [{ variable: 'AUTH_JWT_ACCEPT_SECRET', problem: 'is false', remedy }]
}

function methodsMistakes(config: Config): Mistake[] {
  const methods = config.AUTH_JWT_VALID_METHODS
  const algorithm = signingAlgorithm(config)
  if (methods === undefined || methods.includes(algorithm)) return []
  const problem = `leaves out ${algorithm}, with which tokens are signed here`
  const remedy = `it must list ${algorithm}, or no session would be accepted`
  return [{ variable: 'AUTH_JWT_VALID_METHODS', problem, remedy }]
}

/** With one of these roles among those of admins, everybody would be one. */
function adminRoleMistakes(config: Config): Mistake[] {
  const roles = new Map([
    ['anon', 'the role of the token that every client has'],
    [config.AUTH_JWT_DEFAULT_GROUP_NAME, 'the role of everybody who signs up'],
  ])
  const remedy = 'it must name the roles of your own servers and admins alone'
  return config.AUTH_JWT_ADMIN_ROLES.filter((role) => roles.has(role)).map((role) => ({
    variable: 'AUTH_JWT_ADMIN_ROLES',
    problem: `names ${role}, ${roles.get(role)}`,
    remedy,
  }))
}

function keyMistakes(keys: JWK[], dev: boolean): Mistake[] {
  const signing = keys.filter((key) => key.key_ops?.includes('sign'))
  const wrong = keys.flatMap((key, index) => wrongKey(key, index + 1, dev))
  if (signing.length === 1) return [...wrong, ...repeatedIds(keys)]
  const problem = signing.length === 0 ? 'has no signing key' : `has ${signing.length} signing keys`
  const remedy = 'exactly one key must have "key_ops": ["sign"]'
  return [{ variable, problem, remedy }, ...wrong]
}

function wrongKey(key: JWK, place: number, dev: boolean): Mistake[] {
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
  if (key.kty === 'oct' && isTooShort(Buffer.from(key.k ?? '', 'base64url'), dev)) {
    const remedy = `"k" must hold ${leastBytes} bytes or more as base64url`
    const problem = `has a key ${place} that is too short`
    return [{ variable, problem, remedy, inGotrue: asBefore }]
  }
  return []
}

/** Tokens need not name a shared secret, so that it needs no id. */
function repeatedIds(keys: JWK[]): Mistake[] {
  const named = keys.filter(({ kty, kid }) => kty !== 'oct' || kid !== undefined)
  const ids = named.map((key) => key.kid)
  if (keys.length === 1 || (new Set(ids).size === ids.length && !ids.includes(undefined))) return []
  const remedy = 'of several keys, each that is no shared secret must have a "kid" of its own'
  return [{ variable, problem: 'has keys that cannot be told apart', remedy }]
}
