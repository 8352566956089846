/** Keys and secrets: those that sign tokens, and those that encrypt stored data. */
import type { JWK } from 'jose'

import type { ConfigIssue } from '../core/config-error.ts'
import { explainWeakness, isPublished, isWeakSecret } from '../core/weak-secret.ts'
import type { Config } from '../groups/index.ts'
import { isEmpty, missing } from './missing.ts'

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

/** Outside development mode a guessable secret is reported by secretsRule, whatever its length. */
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
  const variable = 'AUTH_JWT_KEYS'
  const signing = keys.filter((key) => key.key_ops?.includes('sign'))
  const invalid = keys.flatMap((key, index) => invalidKey(key, index + 1, dev))
  if (signing.length === 1) return [...invalid, ...repeatedIds(keys)]
  const problem = signing.length === 0 ? 'has no signing key' : `has ${signing.length} signing keys`
  const hint = 'exactly one key must have "key_ops": ["sign"]'
  return [{ variable, problem, hint }, ...invalid]
}

function invalidKey(key: JWK, position: number, dev: boolean): ConfigIssue[] {
  const variable = 'AUTH_JWT_KEYS'
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
  const variable = 'AUTH_JWT_KEYS'
  const named = keys.filter(({ kty, kid }) => kty !== 'oct' || kid !== undefined)
  const ids = named.map((key) => key.kid)
  if (keys.length === 1 || (new Set(ids).size === ids.length && !ids.includes(undefined))) return []
  const hint = 'with several keys, each one except shared secrets must have a unique "kid"'
  return [{ variable, problem: 'has keys without a unique "kid"', hint }]
}

const removal = 'remove it and run `npm run secrets`, which writes a random one to .env'

/** Such a secret gives admin access. In development mode only the local machine can reach the server. */
export function secretsRule(config: Config): ConfigIssue[] {
  if (config.dev) return []
  return [
    ...jwtSecretIssues(config),
    ...encryptionKeyIssues(config),
    ...jwksIssues(config),
    ...captchaIssues(config),
    ...databaseIssues(config),
  ]
}

function jwtSecretIssues({ AUTH_JWT_SECRET: secret }: Config): ConfigIssue[] {
  const problem = isEmpty(secret) ? undefined : explainWeakness(secret)
  return problem === undefined ? [] : [{ variable: 'AUTH_JWT_SECRET', problem, hint: removal }]
}

function encryptionKeyIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_ENCRYPTION_KEY'
  const text = config[variable]
  if (text === undefined) return []
  const key = Buffer.from(text, 'base64url')
  const signing = [config.AUTH_JWT_SECRET ?? '', ...octetKeys(config)]
  if (signing.some((secret) => secret === text || Buffer.from(secret, 'latin1').equals(key))) {
    const problem = 'is the secret that signs tokens'
    return [{ variable, problem, hint: removal }]
  }
  const problem = isWeakSecret(key.toString('latin1')) ? 'is guessable' : explainWeakness(text)
  return problem === undefined ? [] : [{ variable, problem, hint: removal }]
}

function jwksIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_JWT_KEYS'
  const isKnown = (config[variable] ?? []).some(({ d }) => d !== undefined && isPublished(d))
  const isWeak = octetKeys(config).some((secret) => explainWeakness(secret) !== undefined)
  if (!isKnown && !isWeak) return []
  const problem = 'has a published or guessable key'
  return [{ variable, problem, hint: 'without it the server generates and stores its own keys' }]
}

/** Shared secrets among the keys; each byte is a character. */
function octetKeys({ AUTH_JWT_KEYS: keys = [] }: Config): string[] {
  return keys
    .filter(({ kty }) => kty === 'oct')
    .map(({ k }) => Buffer.from(k ?? '', 'base64url').toString('latin1'))
}

/** Test secrets, with which providers accept or reject every response. */
const testSecrets = /^(?:[123]x0{31}AA|0x0{40})$/i

function captchaIssues({ AUTH_SECURITY_CAPTCHA_SECRET: secret }: Config): ConfigIssue[] {
  if (secret === undefined || !testSecrets.test(secret)) return []
  const problem = 'is the provider’s test secret, which accepts every response'
  const own = 'it must be the secret key of your site'
  return [{ variable: 'AUTH_SECURITY_CAPTCHA_SECRET', problem, hint: own }]
}

function databaseIssues({ DATABASE_URL: address }: Config): ConfigIssue[] {
  if (!isPublished(URL.parse(address)?.password ?? '')) return []
  const problem = 'has a password that is published in documentation'
  return [{ variable: 'DATABASE_URL', problem, hint: 'set another password for this role' }]
}

const idName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID'
const keyName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'
const keysName = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'

export function encryptionRule(config: Config): ConfigIssue[] {
  if (!config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT) return []
  const id = config[idName]
  const lost = missing(config, [idName, keyName], 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT is true')
  if (id === undefined || id in config[keysName]) return lost
  const problem = `has no key "${id}"`
  const hint = `it must contain the key named by ${idName}, which existing data is encrypted with`
  return [...lost, { variable: keysName, problem, hint }]
}

/** The algorithm that signs new access tokens (RFC 7518 §3.1). A configured key without one uses HS256. */
export function signingAlgorithm({ AUTH_JWT_KEYS: keys, AUTH_JWT_ALGORITHM }: Config): string {
  const signing = keys?.find((key) => key.key_ops?.includes('sign'))
  return keys ? (signing?.alg ?? 'HS256') : AUTH_JWT_ALGORITHM
}
