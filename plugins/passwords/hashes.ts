/** The stored forms of a password: argon2id for new ones, the others verified until the next sign-in. */
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2'
import { verify as bcryptVerify } from '@node-rs/bcrypt'

import { parseFirebaseHash, verifyFirebaseHash } from './firebase-scrypt.ts'

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

/** True for a hash whose form and cost we are ready to verify. */
export function isSupportedHash(stored: string): boolean {
  const [, , memory, time, parallelism] = argonForm.exec(stored) ?? []
  if (memory) return Number(memory) <= 1_048_576 && Number(time) <= 20 && Number(parallelism) <= 16
  const [, cost] = bcryptForm.exec(stored) ?? []
  if (cost) return Number(cost) <= 16
  return parseFirebaseHash(stored) !== undefined
}

/** False for a wrong password and for a stored form that nobody knows. */
export async function verifyHash(stored: string, password: string): Promise<boolean> {
  if (!isSupportedHash(stored)) return false
  if (stored.startsWith('$argon2')) return argonVerify(stored, password)
  if (stored.startsWith('$2')) return bcryptVerify(bcryptInput(password), stored)
  const firebase = parseFirebaseHash(stored)
  return firebase !== undefined && verifyFirebaseHash(firebase, password)
}

/** bcrypt has always looked at the first 72 bytes only; the hash was made from those. */
function bcryptInput(password: string): Buffer {
  return Buffer.from(password).subarray(0, 72)
}

/** True when the hash should be replaced by one of today's parameters at the next sign-in. */
export function isOutdated(stored: string, { memoryCost, timeCost, parallelism }: ArgonParameters) {
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`)
}
