import type { ConfigIssue } from '../core/config-error.ts'
import { explainWeakness, isPublished, isWeakSecret } from '../core/weak-secret.ts'
import type { Config } from '../groups/index.ts'
import { isEmpty } from './missing.ts'

const hint = 'remove it and run `npm run secrets`, which writes a random one to .env'

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
  return problem === undefined ? [] : [{ variable: 'AUTH_JWT_SECRET', problem, hint }]
}

function encryptionKeyIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_ENCRYPTION_KEY'
  const text = config[variable]
  if (text === undefined) return []
  const key = Buffer.from(text, 'base64url')
  const signing = [config.AUTH_JWT_SECRET ?? '', ...octetKeys(config)]
  if (signing.some((secret) => secret === text || Buffer.from(secret, 'latin1').equals(key))) {
    const problem = 'is the secret that signs tokens'
    return [{ variable, problem, hint }]
  }
  const problem = isWeakSecret(key.toString('latin1')) ? 'is guessable' : explainWeakness(text)
  return problem === undefined ? [] : [{ variable, problem, hint }]
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
