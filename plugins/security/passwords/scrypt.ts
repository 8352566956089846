/** scrypt (RFC 7914) in the formats of PHC, passlib, Django and Werkzeug. Verified only, never created. */
import { scrypt, timingSafeEqual } from 'node:crypto'

interface ScryptHash {
  N: number
  r: number
  p: number
  salt: Buffer
  hash: Buffer
}

const phcForm = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([\w./+-]+)\$([\w./+-]+)$/
const djangoForm = /^scrypt\$(\d{1,8})\$([^$]+)\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9+/]+={0,2})$/
const werkzeugForm = /^scrypt:(\d{1,8}):(\d{1,3}):(\d{1,3})\$([^$]+)\$([0-9a-fA-F]+)$/

/** 256 MiB, and a second of work. */
const maxBlocks = 2 ** 21
const maxWork = 2 ** 23

/** Undefined for other formats, and for a cost above the limit. */
export function parseScryptHash(stored: string): ScryptHash | undefined {
  const parsed = parsePhc(stored) ?? parseDjango(stored) ?? parseWerkzeug(stored)
  return parsed && isBounded(parsed) ? parsed : undefined
}

function parsePhc(stored: string): ScryptHash | undefined {
  const [start, ln, r, p, salt = '', hash = ''] = phcForm.exec(stored) ?? []
  if (start === undefined) return undefined
  const bytes = (text: string) => Buffer.from(text.replaceAll('.', '+'), 'base64')
  return { N: 2 ** Number(ln), r: Number(r), p: Number(p), salt: bytes(salt), hash: bytes(hash) }
}

function parseDjango(stored: string): ScryptHash | undefined {
  const [start, N, salt = '', r, p, hash = ''] = djangoForm.exec(stored) ?? []
  if (start === undefined) return undefined
  const [salted, hashed] = [Buffer.from(salt), Buffer.from(hash, 'base64')]
  return { N: Number(N), r: Number(r), p: Number(p), salt: salted, hash: hashed }
}

function parseWerkzeug(stored: string): ScryptHash | undefined {
  const [start, N, r, p, salt = '', hash = ''] = werkzeugForm.exec(stored) ?? []
  if (start === undefined) return undefined
  const [salted, hashed] = [Buffer.from(salt), Buffer.from(hash, 'hex')]
  return { N: Number(N), r: Number(r), p: Number(p), salt: salted, hash: hashed }
}

function isBounded({ N, r, p, hash }: ScryptHash): boolean {
  const isPowerOfTwo = N >= 2 && Number.isInteger(Math.log2(N))
  const isCosted = r >= 1 && p >= 1 && N * r <= maxBlocks && N * r * p <= maxWork
  return isPowerOfTwo && isCosted && hash.length >= 16 && hash.length <= 64
}

export async function verifyScryptHash(parsed: ScryptHash, password: string): Promise<boolean> {
  const { N, r, p, salt, hash } = parsed
  const options = { N, r, p, maxmem: 256 * N * r + 1024 * p * r }
  const computed = await new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, hash.length, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
  return timingSafeEqual(computed, hash)
}
