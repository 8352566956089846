/**
 * ASP.NET Core Identity hashes, version 3: base64 of a marker, then the PBKDF2 digest, iterations and salt length as
 * 32-bit numbers, the salt and the key.
 */
import { type Pbkdf2Hash, readBoundedPbkdf2 } from './pbkdf2.ts'

const marker = 0x01
const headerBytes = 13
const digests = ['sha1', 'sha256', 'sha512']

/** Base64 of the header, from which the cost of a hash can be read. */
export const aspnetHeader = /^AQAAAA[A-Za-z0-9+/]{12}/

/** Undefined for anything else. */
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
