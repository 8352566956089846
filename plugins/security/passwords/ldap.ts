/** Salted SHA of LDAP servers (RFC 2307 and its successors): `{SSHA}` and base64 of the digest and the salt. */
import { createHash, timingSafeEqual } from 'node:crypto'

interface SaltedHash {
  digest: string
  salt: Buffer
  hash: Buffer
}

const form = /^\{(SSHA|SSHA256|SSHA384|SSHA512)\}([A-Za-z0-9+/]+={0,2})$/i

const digests: Record<string, { digest: string; bytes: number }> = {
  SSHA: { digest: 'sha1', bytes: 20 },
  SSHA256: { digest: 'sha256', bytes: 32 },
  SSHA384: { digest: 'sha384', bytes: 48 },
  SSHA512: { digest: 'sha512', bytes: 64 },
}

/** Undefined for other schemes, and for a hash without a salt. */
export function parseLdapHash(stored: string): SaltedHash | undefined {
  const [, scheme = '', encoded = ''] = form.exec(stored) ?? []
  const known = digests[scheme.toUpperCase()]
  const bytes = Buffer.from(encoded, 'base64')
  if (!known || bytes.length <= known.bytes) return undefined
  const { digest, bytes: length } = known
  return { digest, salt: bytes.subarray(length), hash: bytes.subarray(0, length) }
}

/** A single digest, which takes a microsecond. */
export function verifyLdapHash({ digest, salt, hash }: SaltedHash, password: string): boolean {
  const computed = createHash(digest).update(password).update(salt).digest()
  return timingSafeEqual(computed, hash)
}
