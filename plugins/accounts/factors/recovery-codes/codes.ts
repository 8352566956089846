/** How a recovery code is made, read and stored: 50 random bits, of which the database keeps a keyed hash. */
import { createHmac, type KeyObject, randomInt } from 'node:crypto'

import type { House } from '../../../define-plugin.ts'

/** Crockford's base 32: no letter that is mistaken for a digit, and no U. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 10

/** In the form in which it is compared. */
export function newCode(): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

/** In the form in which a person writes it down. */
export function toShown(code: string): string {
  return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`
}

/** Undefined for what cannot be a code, however it was typed. */
export function readCode(typed: string): string | undefined {
  const code = typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  const isCode = code.length === length && [...code].every((letter) => letters.includes(letter))
  return isCode ? code : undefined
}

const purpose = 'recovery codes'

export function hashOf({ encryption }: House<'encryption'>, userId: string, code: string): string {
  return hashUnder(encryption.deriveKey(purpose), userId, code)
}

/** Under the current key and those before it. */
export function hashesOf(
  { encryption }: House<'encryption'>,
  userId: string,
  code: string,
): string[] {
  const keys = encryption.deriveKeys(purpose)
  return keys.map((key) => hashUnder(key, userId, code)).toArray()
}

function hashUnder(key: KeyObject, userId: string, code: string): string {
  return createHmac('sha256', key).update(`${userId} ${code}`).digest('base64url')
}
