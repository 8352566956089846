import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { enforceUsername } from '../../../modules/usernames/precis.ts'

const accepted: [input: string, enforced: string, why: string][] = [
  ['juliet@example.com', 'juliet@example.com', 'ASCII (RFC 8265 §3.5)'],
  ['fussball', 'fussball', 'ASCII (RFC 8265 §3.5)'],
  ['fußball', 'fußball', 'a sharp s is no ss (RFC 8265 §3.5)'],
  ['π', 'π', 'a Greek letter (RFC 8265 §3.5)'],
  ['Σ', 'σ', 'a capital letter (RFC 8265 §3.5)'],
  ['ς', 'ς', 'a final sigma (RFC 8265 §3.5)'],
  ['ΟΔΟΣ', 'οδοσ', 'a sigma at the end is mapped as any other'],
  ['Ａｎｎ', 'ann', 'fullwidth letters'],
  ['u\u0308', 'ü', 'a decomposed letter'],
  ['l·l', 'l·l', 'a middle dot between two l (RFC 5892 A.3)'],
  ['א׳', 'א׳', 'a geresh after a Hebrew letter (RFC 5892 A.5)'],
  ['カ・カ', 'カ・カ', 'a Katakana middle dot (RFC 5892 A.7)'],
  ['א1', 'א1', 'a right-to-left name that ends with a digit (RFC 5893 §2)'],
]

const rejected: [input: string, why: string][] = [
  ['', 'an empty name (RFC 8265 §3.5)'],
  ['foo bar', 'a space (RFC 8265 §3.5)'],
  ['henry\u2163', 'a Roman numeral, which has a compatibility form (RFC 8265 §3.5)'],
  ['♚', 'a symbol (RFC 8265 §3.5)'],
  ['a\u0000', 'a control character'],
  ['a\u200db', 'a zero-width joiner'],
  ['a\u00ad', 'a soft hyphen'],
  ['\ud800', 'half of a surrogate pair'],
  ['a·b', 'a middle dot in another position (RFC 5892 A.3)'],
  ['a׳', 'a geresh after another letter (RFC 5892 A.5)'],
  ['a・', 'a Katakana middle dot alone (RFC 5892 A.7)'],
  ['\u0660\u06f0', 'digits of two Arabic sets (RFC 5892 A.8)'],
  ['\u0640', 'a tatweel (RFC 8264 §9.6)'],
  ['\u1100', 'an old Hangul letter (RFC 8264 §9.9)'],
  ['אa', 'letters of two directions (RFC 5893 §2)'],
  ['1א', 'a right-to-left name that begins with a digit (RFC 5893 §2)'],
]

suite('PRECIS UsernameCaseMapped', () => {
  for (const [input, enforced, why] of accepted) {
    test(`maps ${JSON.stringify(input)} to ${JSON.stringify(enforced)}: ${why}`, () => {
      assert.equal(enforceUsername(input), enforced)
      assert.equal(enforceUsername(enforced), enforced)
    })
  }

  for (const [input, why] of rejected) {
    test(`rejects ${JSON.stringify(input)}: ${why}`, () => {
      assert.equal(enforceUsername(input), undefined)
    })
  }
})
