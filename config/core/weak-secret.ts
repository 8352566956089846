/** Detects published and guessable secrets. */
import { createHash } from 'node:crypto'

/** From documentation and examples; compared ignoring case and punctuation. */
const phrases = [
  'supersecretjwttoken',
  'yoursupersecret',
  'yoursecret',
  'yourjwtsecret',
  'your256bitsecret',
  'your32characterencryptionkey',
  'astringsecretatleast256bitslong',
  'reallyreallyreallyreallyverysafe',
  'thispasswordisinsecure',
  'changeme',
  'changethis',
  'changeit',
  'replaceme',
  'replacethis',
  'replacewith',
]

/** SHA-256 of published keys that look random. */
const publishedKeys = new Set([
  // GoTrue: hack/test.env, database encryption.
  '5150cf8545a4282b5ec3d9db53f93dfd015083c9afaaa87c0ad0e4a25fe6d2ab',
  // Supabase CLI: signing key of a local project.
  '68a3c0689dd52919680c1d3f4a606714b44e2c0c75287fcbfec9908af6ad8b40',
  // Supabase containers and CLI: SECRET_KEY_BASE.
  '52f004438faf780274c9c95f79d1cf39d2355fbcf035899fc0242b1437f30df3',
  '94228124c289844e33dbf484c2e2a47ed30c72ea2dd96b1b3acfda90246a286c',
  // RFC 7515 A.1 and A.3, RFC 7517 A.2, RFC 8037 A.1.
  'c8545932a3c60f14c9e45ba51915e6fafe5145b64763374e9cbc3f5f4540f646',
  '5ccf2edb4f070f0b180f1adadb1be7c568d04181e7938433c4503db2d2bf8b3e',
  'a45404ae333dd955dcff82cf28972e0f81b1e673cb70e2fc2d7d0d4c42a893bc',
  '190edf59d5736c3b3ea6bb36d57f5eb415a9b79f3201b381b8f3cb089135981f',
])

/**
 * These limits reject 16 random bytes in hexadecimal with a probability of 10^-12, and the same number of bytes as
 * base64 less often. Eight distinct digits would reject 4 in 10^8, and half of the steps 1 in 10^5.
 */
const minDistinctCharacters = { text: 8, hexadecimal: 5 }
const maxCloseSteps = 0.75
const maxPeriod = 16

const guessable = 'is guessable, because it has few distinct characters, repetitions or sequences'

/** Why a secret is weak, as part of a sentence; undefined for an acceptable one. */
export function explainWeakness(secret: string): string | undefined {
  const decoded = Buffer.from(secret, 'base64').toString('latin1')
  if (isPublished(secret) || isPublished(decoded)) return 'is published in documentation'
  return isWeakSecret(secret) ? guessable : undefined
}

export function isPublished(secret: string): boolean {
  const digest = createHash('sha256').update(secret).digest('hex')
  const letters = secret.toLowerCase().replace(/[^a-z0-9]/g, '')
  return publishedKeys.has(digest) || phrases.some((phrase) => letters.includes(phrase))
}

/** True for few distinct characters, a repeated part, or mostly consecutive characters. */
export function isWeakSecret(secret: string): boolean {
  if (hasFewCharacters(secret)) return true
  for (let period = 1; period <= Math.min(maxPeriod, secret.length / 2); period++) {
    if (secret.slice(period) === secret.slice(0, -period)) return true
  }
  const codes = Array.from(secret, (character) => character.charCodeAt(0))
  const steps = codes.slice(1).map((code, at) => Math.abs(code - (codes[at] ?? 0)))
  return steps.filter((step) => step <= 1).length > steps.length * maxCloseSteps
}

/** Also a short text of hexadecimal digits has few characters. */
function hasFewCharacters(secret: string): boolean {
  const isHexadecimal = /^[\da-f-]{16,}$/i.test(secret)
  const { text, hexadecimal } = minDistinctCharacters
  return new Set(secret).size < (isHexadecimal ? hexadecimal : text)
}
