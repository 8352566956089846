import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type TSchema, Type } from '@sinclair/typebox'

import { serializerCompiler, validatorCompiler } from '../../plugins/http/schema-compilers.ts'
import { ErrorBody } from '../../schemas/error.ts'
import { nullable, StringEnum } from '../../schemas/values/choices.ts'

interface Case {
  schema: TSchema
  taken: unknown[]
  rejected: unknown[]
}

const when = '2026-01-02T03:04:05.000Z'

const cases: Record<string, Case> = {
  'an enum': {
    schema: StringEnum(['on', 'off']),
    taken: ['on', 'off'],
    rejected: ['of', '', null, 1],
  },
  'a string or null': {
    schema: nullable(Type.String()),
    taken: ['', 'a', null],
    rejected: [1, {}],
  },
  'a time or null': {
    schema: nullable(Type.String({ format: 'date-time' })),
    taken: [when, null],
    rejected: ['yesterday', 0],
  },
  'an array or null': {
    schema: nullable(Type.Array(Type.Object({ id: Type.String() }))),
    taken: [[], [{ id: 'a' }], null],
    rejected: [[{}], { id: 'a' }, 'a'],
  },
  'an object or null': {
    schema: nullable(Type.Object({ id: Type.String(), note: nullable(Type.String()) })),
    taken: [{ id: 'a', note: null }, { id: 'a', note: 'b' }, null],
    rejected: [{}, { id: null, note: null }, []],
  },
}

suite('union schemas', () => {
  for (const [name, { schema, taken, rejected }] of Object.entries(cases)) {
    test(`validates ${name}`, () => {
      const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
      for (const value of taken) assert.equal(validate(value), true, JSON.stringify(value))
      for (const value of rejected) assert.equal(validate(value), false, JSON.stringify(value))
    })

    test(`serializes ${name} unchanged`, () => {
      const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
      for (const value of taken) assert.equal(serialize(value), JSON.stringify(value))
    })
  }

  test('serializes an error code as number or string', () => {
    const schema = ErrorBody.properties.code
    const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
    assert.deepEqual([404, '404', 'no_user'].map(serialize), ['404', '"404"', '"no_user"'])
  })

  test('omits unnamed fields of a nullable object', () => {
    const schema = nullable(Type.Object({ id: Type.String() }))
    const serialize = serializerCompiler({ schema, method: 'GET', url: '/' })
    assert.equal(serialize({ id: 'a', secret: 'b' }), '{"id":"a"}')
  })
})
