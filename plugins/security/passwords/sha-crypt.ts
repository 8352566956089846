/**
 * crypt(3) with SHA-256 (`$5$`) and SHA-512 (`$6$`), as Linux and LDAP servers (`{CRYPT}`) store passwords. The steps
 * follow the specification by Ulrich Drepper. Verified only, never created.
 */
import { createHash } from 'node:crypto'

export interface ShaCryptHash {
  digest: 'sha256' | 'sha512'
  rounds: number
  salt: string
  /** As in the stored format. */
  encoded: string
}

const form =
  /^(?:\{CRYPT\})?\$(5|6)\$(?:rounds=(\d{1,9})\$)?([^$\s:]{0,16})\$([./0-9A-Za-z]{43}|[./0-9A-Za-z]{86})$/i

/** Two seconds of work; passlib uses 656,000 rounds. */
const maxRounds = 1_000_000
const defaultRounds = 5_000
const minRounds = 1_000

/** Undefined for other formats, and for too many rounds. */
export function parseShaCryptHash(stored: string): ShaCryptHash | undefined {
  const [, version, given, salt = '', encoded = ''] = form.exec(stored) ?? []
  const digest = version === '5' ? 'sha256' : 'sha512'
  if (version === undefined || encoded.length !== (version === '5' ? 43 : 86)) return undefined
  const rounds = given === undefined ? defaultRounds : Math.max(Number(given), minRounds)
  return rounds <= maxRounds ? { digest, rounds, salt, encoded } : undefined
}

/** Blocks the thread for some milliseconds or seconds. */
export function shaCrypt(text: string, { digest, rounds, salt: saltText }: ShaCryptHash): string {
  const [password, salt] = [Buffer.from(text), Buffer.from(saltText)]
  const hash = (...parts: Buffer[]) => createHash(digest).update(Buffer.concat(parts)).digest()
  const first = firstDigest(password, salt, hash)
  const repeatedPassword = repeat(hash(...Array(password.length).fill(password)), password.length)
  const saltTimes = 16 + first.readUInt8(0)
  const repeatedSalt = repeat(hash(...Array(saltTimes).fill(salt)), salt.length)
  let state = first
  for (let round = 0; round < rounds; round++) {
    const isOdd = round % 2 === 1
    state = hash(
      isOdd ? repeatedPassword : state,
      ...(round % 3 ? [repeatedSalt] : []),
      ...(round % 7 ? [repeatedPassword] : []),
      isOdd ? state : repeatedPassword,
    )
  }
  return encode(state)
}

type Hash = (...parts: Buffer[]) => Buffer

/** Steps 1 to 12: password, salt, and a second digest of both, by the password's length and its bits. */
function firstDigest(password: Buffer, salt: Buffer, hash: Hash): Buffer {
  const second = hash(password, salt, password)
  const parts = [password, salt, repeat(second, password.length)]
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? second : password)
  return hash(...parts)
}

/** Repeats the bytes up to this length. */
function repeat(bytes: Buffer, length: number): Buffer {
  return Buffer.alloc(length, bytes)
}

const letters = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Three bytes at a time, a third of the digest apart, as 6-bit characters with the lowest bits first. */
function encode(bytes: Buffer): string {
  const third = Math.floor(bytes.length / 3)
  const isLong = bytes.length === 64
  let text = ''
  for (let i = 0; i < third; i++) {
    const group = [i, i + third, i + 2 * third]
    // SHA-256 rotates the order by two positions per group, SHA-512 by one.
    const shift = isLong ? i % 3 : (2 * i) % 3
    text += encodeLetters(bytes, [...group.slice(shift), ...group.slice(0, shift)], 4)
  }
  return text + (isLong ? encodeLetters(bytes, [63], 2) : encodeLetters(bytes, [31, 30], 3))
}

function encodeLetters(bytes: Buffer, places: readonly number[], count: number): string {
  let value = places.reduce((sum, place) => sum * 256 + bytes.readUInt8(place), 0)
  let text = ''
  for (let i = 0; i < count; i++) {
    text += letters[value % 64]
    value = Math.floor(value / 64)
  }
  return text
}
