/** The stored forms of a password: argon2id for new ones, the others verified until the next sign-in. */
import { createHash } from 'node:crypto'

import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2'
import { verify as bcryptVerify } from '@node-rs/bcrypt'

import { parseFirebaseHash, verifyFirebaseHash } from './firebase-scrypt.ts'
import { parsePbkdf2Hash, verifyPbkdf2Hash } from './pbkdf2.ts'

export interface ArgonParameters {
  /** KiB. */
  memoryCost: number
  timeCost: number
  parallelism: number
}

export function hashArgon2id(password: string, parameters: ArgonParameters): Promise<string> {
  return argonHash(password, parameters)
}

const argonForm = /^\$argon2(id|i)\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/
const bcryptForm = /^\$2[abxy]?\$(\d\d)\$[./A-Za-z0-9]{53}$/

const sha256Prefix = 'bcrypt_sha256$'

/** Django writes the name of its hasher in front of a form that others know. */
function withoutHasher(stored: string): string {
  return stored.replace(/^(?:argon2(?=\$argon2)|bcrypt\$(?=\$2)|bcrypt_sha256\$(?=\$2))/, '')
}

/** True for a hash whose form and cost we are ready to verify. */
export function isSupportedHash(stored: string): boolean {
  const form = withoutHasher(stored)
  const [, , memory, time, parallelism] = argonForm.exec(form) ?? []
  if (memory) return Number(memory) <= 1_048_576 && Number(time) <= 20 && Number(parallelism) <= 16
  const [, cost] = bcryptForm.exec(form) ?? []
  if (cost) return Number(cost) <= 16
  return parsePbkdf2Hash(form) !== undefined || parseFirebaseHash(form) !== undefined
}

/** False for a wrong password and for a stored form that nobody knows. */
export async function verifyHash(stored: string, password: string): Promise<boolean> {
  if (!isSupportedHash(stored)) return false
  const form = withoutHasher(stored)
  if (form.startsWith('$argon2')) return argonVerify(form, password)
  if (form.startsWith('$2')) {
    const isPrehashed = stored.startsWith(sha256Prefix)
    return bcryptVerify(isPrehashed ? sha256(password) : password, form)
  }
  const pbkdf2 = parsePbkdf2Hash(form)
  if (pbkdf2) return verifyPbkdf2Hash(pbkdf2, password)
  const firebase = parseFirebaseHash(form)
  return firebase !== undefined && verifyFirebaseHash(firebase, password)
}

/** Hex digits, which bcrypt takes whole however long the password is. */
function sha256(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

/** True when the hash should be replaced by one of today's parameters at the next sign-in. */
export function isOutdated(stored: string, { memoryCost, timeCost, parallelism }: ArgonParameters) {
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`)
}
