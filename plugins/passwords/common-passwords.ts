/**
 * The commonest passwords, as a sorted file of fingerprints: common-passwords.bin, made by scripts/common-passwords.ts.
 * A fingerprint says nothing that the list does not say to everybody. It is small, and found without making anything.
 */
import { readFileSync } from 'node:fs'

export const commonPasswords = {
  count: 100_000,
  file: new URL('./common-passwords.bin', import.meta.url),
  /** Longer ones are too many to be guessed by a list. */
  maxLength: 14,
  /** Of a fingerprint: with 40 bits, one of ten million other passwords is taken for a common one. */
  bytes: 5,
} as const

export const readCommonPasswords = () => readFileSync(commonPasswords.file)

/** Reads the list at the first question that needs it. */
export function createCommonPasswords(read: () => Buffer) {
  let list: Buffer | undefined
  return {
    /** Whether the password is one of the commonest, in any case of its letters. */
    has(password: string): boolean {
      if (password.length > commonPasswords.maxLength) return false
      list ??= read()
      return isIn(list, first(password), second(password))
    },
  }
}

/** Numbers of 32 bits, signed: larger ones would be objects, each of which somebody has to clear away. */
function isIn(list: Buffer, wanted: number, rest: number): boolean {
  let low = 0
  let high = list.length / commonPasswords.bytes - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const at = middle * commonPasswords.bytes
    const found = list.readInt32BE(at)
    const foundRest = list.readUInt8(at + 4)
    if (found === wanted && foundRest === rest) return true
    if (found < wanted || (found === wanted && foundRest < rest)) low = middle + 1
    else high = middle - 1
  }
  return false
}

/** As it stands in the list, which is sorted by it: 32 bits, then 8, without the case of Latin letters. */
export function fingerprint(password: string): [first: number, second: number] {
  return [first(password), second(password)]
}

const first = (password: string) => scramble(password, 0x2f0b_4c4b)
const second = (password: string) => scramble(password, 0x7a35_1d21) & 0xff

/** Spreads what is similar; keeps no secret. */
function scramble(text: string, seed: number): number {
  let state = seed ^ text.length
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ lowered(text.charCodeAt(at)), 0x5bd1_e995)
    state ^= state >>> 15
  }
  state = Math.imul(state ^ (state >>> 16), 0x7feb_352d)
  state = Math.imul(state ^ (state >>> 15), 0x846c_a68b)
  return state ^ (state >>> 16)
}

function lowered(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code
}
