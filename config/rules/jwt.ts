import type { JWK } from 'jose'

import type { ConfigIssue } from '../core/config-error.ts'
import { explainWeakness } from '../core/weak-secret.ts'
import type { Config } from '../groups/index.ts'
import { signingAlgorithm } from '../groups/signing-algorithm.ts'

const variable = 'AUTH_JWT_KEYS'

/** Algorithms by key type (RFC 7518 §3.1, RFC 8037 §3.1). */
const algorithms: Record<string, string[]> = {
  oct: ['HS256'],
  RSA: ['RS256', 'RS512'],
  EC: ['ES256', 'ES512'],
  OKP: ['EdDSA'],
}

export function jwtRule(config: Config): ConfigIssue[] {
  return [
    ...lengthIssues(config),
    ...secretIssues(config),
    ...methodsIssues(config),
    ...adminRoleIssues(config),
    ...(config.AUTH_JWT_KEYS ? keyIssues(config.AUTH_JWT_KEYS, config.dev) : []),
  ]
}

/** RFC 7518 §3.2. */
const minBytes = 32
const asBefore = 'it is used nevertheless and is open to brute force'

function lengthIssues({ AUTH_JWT_SECRET: secret, dev }: Config): ConfigIssue[] {
  if (secret === undefined || !isTooShort(Buffer.from(secret), dev)) return []
  const hint = `it must be at least ${minBytes} bytes long, such as the output of \`openssl rand -base64 48\``
  const problem = 'is too short'
  return [{ variable: 'AUTH_JWT_SECRET', problem, hint, inGotrue: asBefore }]
}

/** Outside development mode a guessable secret is reported by secrets.ts, whatever its length. */
function isTooShort(secret: Buffer, dev: boolean): boolean {
  if (secret.length >= minBytes) return false
  return dev || explainWeakness(secret.toString('latin1')) === undefined
}

function secretIssues(config: Config): ConfigIssue[] {
  const signsWithSecret = config.AUTH_JWT_ALGORITHM === 'HS256' && !config.AUTH_JWT_KEYS
  if (!signsWithSecret || config.AUTH_JWT_ACCEPT_SECRET) return []
  const hint =
    'it must be true while AUTH_JWT_ALGORITHM is HS256, otherwise no token would be accepted'
  return [{ variable: 'AUTH_JWT_ACCEPT_SECRET', problem: 'is false', hint }]
}

function methodsIssues(config: Config): ConfigIssue[] {
  const methods = config.AUTH_JWT_VALID_METHODS
  const algorithm = signingAlgorithm(config)
  if (methods === undefined || methods.includes(algorithm)) return []
  const problem = `does not include ${algorithm}, which this server signs with`
  const hint = `it must include ${algorithm}, otherwise no session would be accepted`
  return [{ variable: 'AUTH_JWT_VALID_METHODS', problem, hint }]
}

/** If one of these were an admin role, every user would be an admin. */
function adminRoleIssues(config: Config): ConfigIssue[] {
  const roles = new Map([
    ['anon', 'the role of the public token'],
    [config.AUTH_JWT_DEFAULT_GROUP_NAME, 'the role of every new user'],
  ])
  const hint = 'it must contain only roles of your own servers and admins'
  return config.AUTH_JWT_ADMIN_ROLES.filter((role) => roles.has(role)).map((role) => ({
    variable: 'AUTH_JWT_ADMIN_ROLES',
    problem: `names ${role}, ${roles.get(role)}`,
    hint,
  }))
}

function keyIssues(keys: JWK[], dev: boolean): ConfigIssue[] {
  const signing = keys.filter((key) => key.key_ops?.includes('sign'))
  const invalid = keys.flatMap((key, index) => invalidKey(key, index + 1, dev))
  if (signing.length === 1) return [...invalid, ...repeatedIds(keys)]
  const problem = signing.length === 0 ? 'has no signing key' : `has ${signing.length} signing keys`
  const hint = 'exactly one key must have "key_ops": ["sign"]'
  return [{ variable, problem, hint }, ...invalid]
}

function invalidKey(key: JWK, position: number, dev: boolean): ConfigIssue[] {
  const allowed = algorithms[key.kty ?? ''] ?? []
  if (!allowed.includes(key.alg ?? 'HS256')) {
    const problem = `has "kty": "${key.kty}" with "alg": "${key.alg}" in key ${position}`
    const hint =
      'RSA keys need RS256 or RS512, EC keys ES256 or ES512, OKP keys EdDSA, oct keys HS256'
    return [{ variable, problem, hint }]
  }
  if (key.key_ops?.includes('sign') && key.kty !== 'oct' && key.d === undefined) {
    const hint = 'the signing key must have its private parameter "d"'
    return [{ variable, problem: `has only the public parameters of key ${position}`, hint }]
  }
  if (key.kty === 'oct' && isTooShort(Buffer.from(key.k ?? '', 'base64url'), dev)) {
    const hint = `"k" must have at least ${minBytes} bytes as base64url`
    const problem = `has a key ${position} that is too short`
    return [{ variable, problem, hint, inGotrue: asBefore }]
  }
  return []
}

/** Tokens need not name a shared secret, so it needs no id. */
function repeatedIds(keys: JWK[]): ConfigIssue[] {
  const named = keys.filter(({ kty, kid }) => kty !== 'oct' || kid !== undefined)
  const ids = named.map((key) => key.kid)
  if (keys.length === 1 || (new Set(ids).size === ids.length && !ids.includes(undefined))) return []
  const hint = 'with several keys, each one except shared secrets must have a unique "kid"'
  return [{ variable, problem: 'has keys without a unique "kid"', hint }]
}
