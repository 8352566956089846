/** Codes of authenticator apps (RFC 6238): SHA-1, six digits, a new one every 30 seconds. */
import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'

import type { Db } from '../../../db/database.ts'
import { sealFactorSecret } from '../../../db/factors.ts'
import type { House } from '../../define-plugin.ts'

/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20
const period = 30
/** Steps that a clock may be wrong by. */
const tolerance = 1
const storedAs = 'the secret of an authenticator app'

/** In base32, without padding. */
export function newSecret(): string {
  return new Secret({ size: secretBytes }).base32
}

/** What an authenticator app reads, as a link and as a picture. */
export function enrolmentOf(secret: string, issuer: string, account: string) {
  const uri = otpauthUri(secret, issuer, account)
  return { qr_code: qrCode(uri), secret, uri }
}

/** The order of the keys and the letters left as they are follow GoTrue, whose clients compare them. */
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

/** Bytes that fit into a picture with the highest error correction. */
const mostBytesWithCorrection = 1273
const moduleSize = 3

/** Clients put it into a data URI as it is, so there is no `#` in it. */
function qrCode(uri: string): string {
  const ecc = Buffer.byteLength(uri) <= mostBytesWithCorrection ? 'H' : 'L'
  const svg = renderSVG(uri, { ecc, border: 4, pixelSize: moduleSize })
  const width = /viewBox="0 0 (\d+) \d+"/.exec(svg)?.[1]
  // Without a size of its own, a browser makes it as large as the page.
  return svg.replace('<svg ', `<svg width="${width}" height="${width}" `)
}

/** The time step of which this is the code; undefined for a wrong code. Constant time. */
export function stepOf(secret: string, code: string, now: Date): number | undefined {
  // The library throws for six characters that are more bytes, such as digits of another script.
  if (!/^\d{6}$/.test(code)) return undefined
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period })
  const timestamp = now.getTime()
  const delta = totp.validate({ token: code, window: tolerance, timestamp })
  return delta === null ? undefined : totp.counter({ timestamp }) + delta
}

/** Reads a stored secret, and stores it anew when it was found in another form than it is stored in now. */
export async function openSecret(
  { encryption }: House<'encryption'>,
  db: Db,
  { id, secret }: { id: string; secret: string | null },
): Promise<string> {
  const stored = secret ?? ''
  const plain = encryption.decrypt(id, stored, storedAs)
  if (!encryption.isSealed(stored)) {
    await sealFactorSecret(db, id, stored, encryption.seal(id, plain))
  }
  return plain
}
