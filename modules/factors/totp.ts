/** TOTP (RFC 6238): SHA-1, six digits, 30 seconds. */
import type { FastifyInstance } from 'fastify'
import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'

import type { Db } from '../../db/core/database.ts'
import { storeEncryptedFactorSecret } from '../../db/factors/factors.ts'

/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20
const period = 30
/** Time steps of tolerated clock drift. */
const tolerance = 1
const storedAs = 'the secret of an authenticator app'

/** In base32, without padding. */
export function generateTotpSecret(): string {
  return new Secret({ size: secretBytes }).base32
}

/** The otpauth URI and its QR code. */
export function createTotpEnrollment(secret: string, issuer: string, account: string) {
  const uri = otpauthUri(secret, issuer, account)
  return { qr_code: qrCode(uri), secret, uri }
}

/** The order of the parameters and the unescaped characters are GoTrue's, whose clients compare them. */
function otpauthUri(secret: string, issuer: string, account: string): string {
  const name = (text: string) =>
    encodeURIComponent(text).replaceAll('%40', '@').replaceAll('%3A', ':')
  const parameters = [
    'algorithm=SHA1',
    'digits=6',
    `issuer=${name(issuer)}`,
    `period=${period}`,
    `secret=${secret}`,
  ]
  return `otpauth://totp/${name(issuer)}:${name(account)}?${parameters.join('&')}`
}

/** Bytes of a QR code with the highest error correction. */
const maxBytesWithCorrection = 1273
const moduleSize = 3

/** Clients put it into a data URI unescaped, so that it must not contain `#`. */
function qrCode(uri: string): string {
  const ecc = Buffer.byteLength(uri) <= maxBytesWithCorrection ? 'H' : 'L'
  const svg = renderSVG(uri, { ecc, border: 4, pixelSize: moduleSize })
  const width = /viewBox="0 0 (\d+) \d+"/.exec(svg)?.[1]
  // Without a size, browsers scale it to the page.
  return svg.replace('<svg ', `<svg width="${width}" height="${width}" `)
}

/** The time step of the code; undefined for a wrong one. Constant time. */
export function findTotpStep(secret: string, code: string, now: Date): number | undefined {
  // The library throws for six characters with more bytes, such as digits of another script.
  if (!/^\d{6}$/.test(code)) return undefined
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period })
  const timestamp = now.getTime()
  const delta = totp.validate({ token: code, window: tolerance, timestamp })
  return delta === null ? undefined : totp.counter({ timestamp }) + delta
}

/** Decrypts a stored secret, and re-encrypts it when it is plain or under another key. */
export async function decryptTotpSecret(
  { encryption }: FastifyInstance,
  db: Db,
  { id, secret }: { id: string; secret: string | null },
): Promise<string> {
  const stored = secret ?? ''
  const plain = encryption.decrypt(id, stored, storedAs)
  if (!encryption.isSealed(stored)) {
    await storeEncryptedFactorSecret(db, id, stored, encryption.seal(id, plain))
  }
  return plain
}
