/** Values stored by one release and read by another. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { Type } from '@sinclair/typebox'

import { readStored, StoredFormError } from '../../schemas/values/stored.ts'

const First = Type.Object({ v: Type.Literal(1), to: Type.String() })
const Second = Type.Object({ v: Type.Literal(2), to: Type.Array(Type.String()) })

const known: [name: string, value: object][] = [
  ['with its version', { v: 1, to: 'ada' }],
  ['without a version', { to: 'ada' }],
  ['with an unknown field', { v: 1, to: 'ada', cc: 'grace' }],
]
const unknown: [name: string, value: unknown][] = [
  ['of a later version', { v: 2, to: ['ada'] }],
  ['of a later version with the same fields', { v: 2, to: 'ada' }],
  ['without a required field', { v: 1 }],
  ['with a field of another type', { v: 1, to: ['ada'] }],
  ['that is an array', ['ada']],
  ['that is null', null],
]

suite('stored value', () => {
  for (const [name, value] of known) {
    test(`${name} is accepted`, () => {
      assert.equal(readStored(First, value, 'It').to, 'ada')
    })
  }

  for (const [name, value] of unknown) {
    test(`${name} is rejected, and the error does not contain it`, () => {
      assert.throws(
        () => readStored(First, value, 'A queued mail'),
        (error) => error instanceof StoredFormError && !error.message.includes('ada'),
      )
    })
  }

  test('reads a stored value without a version as version 1 only', () => {
    assert.throws(() => readStored(Second, { to: ['ada'] }, 'It'), StoredFormError)
  })
})
