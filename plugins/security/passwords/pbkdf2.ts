/**
 * PBKDF2 (RFC 8018 §5.2) in the formats of Django, passlib, PHC and ASP.NET Core Identity, for imported users. Verified
 * only, never created.
 */
import { pbkdf2, timingSafeEqual } from 'node:crypto'

interface Pbkdf2Hash {
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
function readBoundedPbkdf2(parsed: Pbkdf2Hash): Pbkdf2Hash | undefined {
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

const marker = 0x01
const headerBytes = 13
const digests = ['sha1', 'sha256', 'sha512']

/** Base64 of the header, from which the cost of a hash can be read. */
export const aspnetHeader = /^AQAAAA[A-Za-z0-9+/]{12}/

/**
 * Reads a hash of ASP.NET Core Identity, version 3: base64 of a marker, then the PBKDF2 digest, iterations and salt length
 * as 32-bit numbers, the salt and the key. Undefined for anything else.
 */
export function parseAspnetHash(stored: string): Pbkdf2Hash | undefined {
  if (!aspnetHeader.test(stored) || !/^[A-Za-z0-9+/]+={0,2}$/.test(stored)) return undefined
  const bytes = Buffer.from(stored, 'base64')
  if (bytes.length <= headerBytes || bytes.readUInt8(0) !== marker) return undefined
  const digest = digests[bytes.readUInt32BE(1)]
  const saltEnd = headerBytes + bytes.readUInt32BE(9)
  if (digest === undefined || saltEnd >= bytes.length) return undefined
  return readBoundedPbkdf2({
    digest,
    iterations: bytes.readUInt32BE(5),
    salt: bytes.subarray(headerBytes, saltEnd),
    hash: bytes.subarray(saltEnd),
  })
}
