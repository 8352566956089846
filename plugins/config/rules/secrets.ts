import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { isGuessable, isPublished, weaknessOf } from '../weak-secret.ts'
import { isEmpty } from './missing.ts'

const remedy = 'remove it and run `npm run secrets`, which writes a random one into .env'

/** Whoever knows a secret is an admin here. In development mode nobody else can reach the server. */
export function secretsRule(config: Config): Mistake[] {
  if (config.dev) return []
  return [
    ...jwtSecretMistakes(config),
    ...encryptionKeyMistakes(config),
    ...jwksMistakes(config),
    ...captchaMistakes(config),
    ...databaseMistakes(config),
  ]
}

function jwtSecretMistakes({ AUTH_JWT_SECRET: secret }: Config): Mistake[] {
  const problem = isEmpty(secret) ? undefined : weaknessOf(secret)
  return problem === undefined ? [] : [{ variable: 'AUTH_JWT_SECRET', problem, remedy }]
}

function encryptionKeyMistakes(config: Config): Mistake[] {
  const variable = 'AUTH_ENCRYPTION_KEY'
  const text = config[variable]
  if (text === undefined) return []
  const key = Buffer.from(text, 'base64url')
  const signing = [config.AUTH_JWT_SECRET ?? '', ...octetKeys(config)]
  if (signing.some((secret) => secret === text || Buffer.from(secret, 'latin1').equals(key))) {
    const problem = 'is the secret that tokens are signed with'
    return [{ variable, problem, remedy }]
  }
  const problem = isGuessable(key.toString('latin1')) ? 'can be guessed' : weaknessOf(text)
  return problem === undefined ? [] : [{ variable, problem, remedy }]
}

function jwksMistakes(config: Config): Mistake[] {
  const variable = 'AUTH_JWT_KEYS'
  const isKnown = (config[variable] ?? []).some(({ d }) => d !== undefined && isPublished(d))
  const isWeak = octetKeys(config).some((secret) => weaknessOf(secret) !== undefined)
  if (!isKnown && !isWeak) return []
  const problem = 'has a key that is published or can be guessed'
  return [{ variable, problem, remedy: 'without it the server makes and keeps keys of its own' }]
}

/** Secrets among the keys; each byte is a character. */
function octetKeys({ AUTH_JWT_KEYS: keys = [] }: Config): string[] {
  return keys
    .filter(({ kty }) => kty === 'oct')
    .map(({ k }) => Buffer.from(k ?? '', 'base64url').toString('latin1'))
}

/** With these secrets both providers find every captcha solved, or none. */
const testSecrets = /^(?:[123]x0{31}AA|0x0{40})$/i

function captchaMistakes({ AUTH_SECURITY_CAPTCHA_SECRET: secret }: Config): Mistake[] {
  if (secret === undefined || !testSecrets.test(secret)) return []
  const problem = 'is the provider’s secret for tests, with which everybody passes'
  const own = 'it must be the secret of your own site'
  return [{ variable: 'AUTH_SECURITY_CAPTCHA_SECRET', problem, remedy: own }]
}

function databaseMistakes({ DATABASE_URL: address }: Config): Mistake[] {
  if (!isPublished(URL.parse(address)?.password ?? '')) return []
  const problem = 'has a password that is published in documentation'
  return [{ variable: 'DATABASE_URL', problem, remedy: 'the role needs a password of its own' }]
}
