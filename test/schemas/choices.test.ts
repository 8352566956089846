import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type TSchema, Type } from '@sinclair/typebox'

import { serializerCompiler, validatorCompiler } from '../../plugins/schema-compilers.ts'
import { nullable, oneOf } from '../../schemas/choices.ts'
import { ErrorBody } from '../../schemas/error.ts'

interface Case {
  schema: TSchema
  taken: unknown[]
  refused: unknown[]
}

const when = '2026-01-02T03:04:05.000Z'

const cases: Record<string, Case> = {
  'one of several texts': {
    schema: oneOf(['on', 'off']),
    taken: ['on', 'off'],
    refused: ['of', '', null, 1],
  },
  'a text or null': { schema: nullable(Type.String()), taken: ['', 'a', null], refused: [1, {}] },
  'a time or null': {
    schema: nullable(Type.String({ format: 'date-time' })),
    taken: [when, null],
    refused: ['yesterday', 0],
  },
  'a list or null': {
    schema: nullable(Type.Array(Type.Object({ id: Type.String() }))),
    taken: [[], [{ id: 'a' }], null],
    refused: [[{}], { id: 'a' }, 'a'],
  },
  'an object or null': {
    schema: nullable(Type.Object({ id: Type.String(), note: nullable(Type.String()) })),
    taken: [{ id: 'a', note: null }, { id: 'a', note: 'b' }, null],
    refused: [{}, { id: null, note: null }, []],
  },
}

suite('choices', () => {
  for (const [name, { schema, taken, refused }] of Object.entries(cases)) {
    test(`${name}: validated`, () => {
      const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
      for (const value of taken) assert.equal(validate(value), true, JSON.stringify(value))
      for (const value of refused) assert.equal(validate(value), false, JSON.stringify(value))
    })

    test(`${name}: serialized as it is`, () => {
      const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
      for (const value of taken) assert.equal(serialize(value), JSON.stringify(value))
    })
  }

  test('the code of an error is a number or a text, as it was given', () => {
    const schema = ErrorBody.properties.code
    const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
    assert.deepEqual([404, '404', 'no_user'].map(serialize), ['404', '"404"', '"no_user"'])
  })

  test('fields that the schema of a nullable object does not name stay out', () => {
    const schema = nullable(Type.Object({ id: Type.String() }))
    const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
    assert.equal(serialize({ id: 'a', secret: 'b' }), '{"id":"a"}')
  })
})
