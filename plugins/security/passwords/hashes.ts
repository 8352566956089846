/** Stored password hashes: argon2id for new ones; other formats are verified and replaced at the next sign-in. */
import { createCipheriv, createHash, scrypt, timingSafeEqual } from 'node:crypto'

import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2'
import { verify as bcryptVerify } from '@node-rs/bcrypt'

import { parseAspnetHash, parsePbkdf2Hash, verifyPbkdf2Hash } from './pbkdf2.ts'
import { parseScryptHash, verifyScryptHash } from './scrypt.ts'
import { parseShaCryptHash } from './sha-crypt.ts'
import { verifyShaCryptHash } from './sha-crypt-thread.ts'

export interface ArgonParameters {
  /** KiB. */
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** With a random salt unless one is given. */
export function hashArgon2id(
  password: string,
  parameters: ArgonParameters,
  salt?: Uint8Array,
): Promise<string> {
  return argonHash(password, { ...parameters, ...(salt && { salt }) })
}

/** With the parameters of GoTrue 2.197, independent of the password settings. */
export function hashRecoveryCode(code: string): Promise<string> {
  return argonHash(code, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
}

const argonForm = /^\$argon2(id|i)\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/
const bcryptForm = /^\$2[abxy]?\$(\d\d)\$[./A-Za-z0-9]{53}$/

const sha256Prefix = 'bcrypt_sha256$'

/** Django prefixes standard formats with the name of its hasher. */
function withoutHasher(stored: string): string {
  return stored.replace(/^(?:argon2(?=\$argon2)|bcrypt\$(?=\$2)|bcrypt_sha256\$(?=\$2))/, '')
}

type Verify = (password: string) => boolean | Promise<boolean>

/** The verifier of a hash; undefined when its format is unknown or its cost too high. */
function readHash(stored: string): Verify | undefined {
  const form = withoutHasher(stored)
  return readArgon(form) ?? readBcrypt(form, stored) ?? readImported(form)
}

function readArgon(form: string): Verify | undefined {
  const [, , memory, time, parallelism] = argonForm.exec(form) ?? []
  const isBounded = Number(memory) <= 1_048_576 && Number(time) <= 20 && Number(parallelism) <= 16
  return isBounded ? (password) => argonVerify(form, password) : undefined
}

function readBcrypt(form: string, stored: string): Verify | undefined {
  const [, cost] = bcryptForm.exec(form) ?? []
  const isPrehashed = stored.startsWith(sha256Prefix)
  if (cost === undefined || Number(cost) > 16) return undefined
  return (password) => bcryptVerify(isPrehashed ? sha256(password) : password, form)
}

/** Formats that are only imported. */
function readImported(form: string): Verify | undefined {
  return (
    verifying(parsePbkdf2Hash(form), verifyPbkdf2Hash) ??
    verifying(parseFirebaseHash(form), verifyFirebaseHash) ??
    verifying(parseAspnetHash(form), verifyPbkdf2Hash) ??
    verifying(parseScryptHash(form), verifyScryptHash) ??
    verifying(parseLdapHash(form), verifyLdapHash) ??
    verifying(parseShaCryptHash(form), verifyShaCryptHash)
  )
}

function verifying<Parsed>(
  parsed: Parsed | undefined,
  verify: (parsed: Parsed, password: string) => boolean | Promise<boolean>,
): Verify | undefined {
  return parsed && ((password) => verify(parsed, password))
}

/** Whether the format and cost of a hash are accepted. */
export function isSupportedHash(stored: string): boolean {
  return readHash(stored) !== undefined
}

/** False for a wrong password and for an unknown format. */
export async function verifyHash(stored: string, password: string): Promise<boolean> {
  const verify = readHash(stored)
  return verify ? verify(password) : false
}

/** In hex, because bcrypt truncates its input at 72 bytes and stops at NUL. */
function sha256(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

/** True when the hash should be replaced with current parameters at the next sign-in. */
export function isOutdated(stored: string, { memoryCost, timeCost, parallelism }: ArgonParameters) {
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`)
}

// Salted SHA of LDAP servers (RFC 2307 and its successors): `{SSHA}` and base64 of the digest and the salt.

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
function parseLdapHash(stored: string): SaltedHash | undefined {
  const [, scheme = '', encoded = ''] = form.exec(stored) ?? []
  const known = digests[scheme.toUpperCase()]
  const bytes = Buffer.from(encoded, 'base64')
  if (!known || bytes.length <= known.bytes) return undefined
  const { digest, bytes: length } = known
  return { digest, salt: bytes.subarray(length), hash: bytes.subarray(0, length) }
}

/** A single digest, which takes a microsecond. */
function verifyLdapHash({ digest, salt, hash }: SaltedHash, password: string): boolean {
  const computed = createHash(digest).update(password).update(salt).digest()
  return timingSafeEqual(computed, hash)
}

// Firebase's modified scrypt, for imported users: scrypt derives an AES-256-CTR key that encrypts the project's signer
// key; the result is the hash. Verified only, never created.

interface FirebaseHash {
  memoryCost: number
  rounds: number
  parallelism: number
  saltSeparator: Buffer
  signerKey: Buffer
  salt: Buffer
  hash: Buffer
}

/** Reads `$fbscrypt$v=1,n=14,r=8,p=1,ss=..,sk=..$salt$hash`; undefined for anything else. */
function parseFirebaseHash(stored: string): FirebaseHash | undefined {
  const parts = /^\$fbscrypt\$v=1,([^$]+)\$([^$]+)\$([^$]+)$/.exec(stored)
  const [, parameters, salt, hash] = parts ?? []
  if (!parameters || !salt || !hash) return undefined
  const values = new Map(
    parameters.split(',').map((pair): [string, string] => {
      const [name = '', ...rest] = pair.split('=')
      return [name, rest.join('=')]
    }),
  )
  const [memoryCost, rounds, parallelism] = ['n', 'r', 'p'].map((name) => Number(values.get(name)))
  if (!inRange(memoryCost, 20) || !inRange(rounds, 64) || !inRange(parallelism, 16)) {
    return undefined
  }
  return {
    memoryCost,
    rounds,
    parallelism,
    saltSeparator: Buffer.from(values.get('ss') ?? '', 'base64'),
    signerKey: Buffer.from(values.get('sk') ?? '', 'base64'),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function inRange(value: number | undefined, max: number): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 1 && value <= max
}

async function verifyFirebaseHash(parsed: FirebaseHash, password: string): Promise<boolean> {
  const salt = Buffer.concat([parsed.salt, parsed.saltSeparator])
  const key = await scryptKey(password, salt, parsed)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const computed = Buffer.concat([cipher.update(parsed.signerKey), cipher.final()])
  return computed.length === parsed.hash.length && timingSafeEqual(computed, parsed.hash)
}

function scryptKey(
  password: string,
  salt: Buffer,
  { memoryCost, rounds, parallelism }: FirebaseHash,
) {
  const N = 2 ** memoryCost
  const options = { N, r: rounds, p: parallelism, maxmem: 256 * N * rounds }
  return new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
