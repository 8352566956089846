/** What one release stored and another one reads. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { Type } from '@sinclair/typebox'

import { readStored, StoredFormError } from '../../schemas/stored.ts'

const First = Type.Object({ v: Type.Literal(1), to: Type.String() })
const Second = Type.Object({ v: Type.Literal(2), to: Type.Array(Type.String()) })

const known: [name: string, value: object][] = [
  ['with its version', { v: 1, to: 'ada' }],
  ['from before there were versions', { to: 'ada' }],
  ['with a field that this release does not need', { v: 1, to: 'ada', cc: 'grace' }],
]
const unknown: [name: string, value: unknown][] = [
  ['of a later version', { v: 2, to: ['ada'] }],
  ['of a later version that looks the same', { v: 2, to: 'ada' }],
  ['without a field', { v: 1 }],
  ['with a field of another type', { v: 1, to: ['ada'] }],
  ['that is a list', ['ada']],
  ['that is nothing', null],
]

suite('a stored value', () => {
  for (const [name, value] of known) {
    test(`${name} is read`, () => {
      assert.equal(readStored(First, value, 'It').to, 'ada')
    })
  }

  for (const [name, value] of unknown) {
    test(`${name} is refused, and the error shows nothing of it`, () => {
      assert.throws(
        () => readStored(First, value, 'A queued mail'),
        (error) => error instanceof StoredFormError && !error.message.includes('ada'),
      )
    })
  }

  test('without a version is never of a later form', () => {
    assert.throws(() => readStored(Second, { to: ['ada'] }, 'It'), StoredFormError)
  })
})
