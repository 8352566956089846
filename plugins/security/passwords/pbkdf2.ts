/**
 * PBKDF2 (RFC 8018 §5.2) in the formats of Django, passlib and PHC, for imported users. Verified only, never created.
 */
import { pbkdf2, timingSafeEqual } from 'node:crypto'

export interface Pbkdf2Hash {
  digest: string
  iterations: number
  salt: Buffer
  hash: Buffer
}

/** About half a second of work. */
const maxIterations = 2_000_000

const djangoForm = /^pbkdf2_(sha1|sha256|sha512)\$(\d{1,8})\$([^$]+)\$([A-Za-z0-9+/]+={0,2})$/
const phcForm =
  /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d{1,8})(?:,l=\d+)?\$([\w./+-]+)\$([\w./+-]+)$/

/** Reads `pbkdf2_sha256$iterations$salt$hash` and `$pbkdf2-sha256$iterations$salt$hash`; undefined for others. */
export function parsePbkdf2Hash(stored: string): Pbkdf2Hash | undefined {
  const django = djangoForm.exec(stored)
  const [, digest = 'sha1', iterations, salt = '', hash = ''] = django ?? phcForm.exec(stored) ?? []
  return readBoundedPbkdf2({
    digest,
    iterations: Number(iterations),
    salt: django ? Buffer.from(salt) : fromAdaptedBase64(salt),
    hash: fromAdaptedBase64(hash),
  })
}

/** Undefined for an unsupported cost or length. */
export function readBoundedPbkdf2(parsed: Pbkdf2Hash): Pbkdf2Hash | undefined {
  const isBounded = parsed.iterations >= 1 && parsed.iterations <= maxIterations
  const isLong = parsed.hash.length >= 16 && parsed.hash.length <= 64
  return isBounded && isLong ? parsed : undefined
}

export async function verifyPbkdf2Hash(parsed: Pbkdf2Hash, password: string): Promise<boolean> {
  const { salt, iterations, hash, digest } = parsed
  const computed = await new Promise<Buffer>((resolve, reject) => {
    pbkdf2(password, salt, iterations, hash.length, digest, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
  return timingSafeEqual(computed, hash)
}

/** passlib writes a dot for a plus. */
function fromAdaptedBase64(text: string): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64')
}
