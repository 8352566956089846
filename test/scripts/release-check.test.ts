import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { brokenPromises, changeBetween, type Release } from '../../scripts/release/compare.ts'
import { readRelease, workingTree } from '../../scripts/release/read.ts'
import { collectFields } from '../../scripts/release/response-fields.ts'

const release: Release = {
  version: '1.2.3',
  operations: new Map([['POST /token', new Map([['body password', false]])]]),
  answers: new Map([['POST /token', new Map([['200 user.id', { type: 'string', always: true }]])]]),
  variables: new Map([['AUTH_JWT_EXP', '`3600`']]),
  migrations: new Map([['0001-users', 'create table users']]),
}
const without = { operations: new Map(), variables: new Map(), migrations: new Map() }
const stricter = new Map([['POST /token', new Map([['body password', true]])]])
const fewer = new Map([['POST /token', new Map()]])
const withResponse = (type: string, always: boolean) =>
  new Map([['POST /token', new Map([['200 user.id', { type, always }]])]])
const longer = new Map([['AUTH_JWT_EXP', '`7200`']])
const contracted = new Map([
  ...release.migrations,
  ['0002-less', `alter table users drop column x; await serveFrom(db, '0001-users')`],
])
const dropping = new Map([...release.migrations, ['0002-less', 'alter table users drop column x']])
const adding = new Map([...release.migrations, ['0002-more', 'alter table users add column x']])

suite('semantic versioning check', () => {
  const cases: [string, string, Partial<Release>, RegExp | undefined][] = [
    ['nothing changes', '1.2.4', {}, undefined],
    [
      'an operation is removed in a patch',
      '1.2.4',
      { operations: without.operations },
      /token is gone/,
    ],
    ['an operation is removed in a minor', '1.3.0', { operations: without.operations }, /is gone/],
    ['an operation is removed in a major', '2.0.0', { operations: without.operations }, undefined],
    ['a field becomes required', '1.3.0', { operations: stricter }, /demands body password/],
    ['a field is removed', '1.3.0', { operations: fewer }, /no longer accepts body password/],
    ['a response field is removed', '1.3.0', { answers: fewer }, /no longer returns 200 user.id/],
    ['a response field is removed', '2.0.0', { answers: fewer }, undefined],
    [
      'a response field becomes optional',
      '1.2.4',
      { answers: withResponse('string', false) },
      /may now omit/,
    ],
    ['a field changes its type', '1.2.4', { answers: withResponse('integer', true) }, /as integer/],
    [
      'a variable is removed',
      '1.3.0',
      { variables: without.variables },
      /AUTH_JWT_EXP was removed/,
    ],
    ['a default changes in a patch', '1.2.4', { variables: longer }, /was `3600`/],
    ['a default changes in a minor', '1.3.0', { variables: longer }, undefined],
    ['a column is dropped in a patch', '1.2.4', { migrations: dropping }, /removes something/],
    [
      'a column is dropped in a minor while the last release needs it',
      '1.3.0',
      { migrations: dropping },
      /serveFrom must name the migration of 1\.2\.3/,
    ],
    [
      'a column is dropped in a minor after the last release stopped using it',
      '1.3.0',
      { migrations: contracted },
      undefined,
    ],
    ['a column is added in a patch', '1.2.4', { migrations: adding }, undefined],
    [
      'a migration is removed',
      '2.0.0',
      { migrations: without.migrations },
      /0001-users was removed/,
    ],
    [
      'a migration is changed',
      '2.0.0',
      { migrations: new Map([['0001-users', 'create table members']]) },
      /has changed/,
    ],
  ]
  for (const [name, version, changed, expected] of cases) {
    test(`${name} (${version})`, () => {
      const found = brokenPromises(release, { ...release, ...changed, version })
      if (expected) assert.match(found.join('\n'), expected)
      else assert.deepEqual(found, [])
    })
  }

  test('rejects an invalid version or one not above the last', () => {
    assert.throws(() => changeBetween('1.2.3', '1.2.3'), /not above/)
    assert.throws(() => changeBetween('1.2.3', '1.2'), /no semantic version/)
  })

  test('reads responses through references, arrays and unions', () => {
    const id = { type: 'string' }
    const schemas = {
      User: { type: 'object', properties: { id }, required: ['id'] },
      Both: {
        anyOf: [{ $ref: '#/components/schemas/User' }, { type: 'object', properties: { id } }],
      },
    }
    const respond = (schema: object) => ({ content: { 'application/json': { schema } } })
    const list = { type: ['array', 'null'], items: { $ref: '#/components/schemas/User' } }
    const found = collectFields({ 200: respond(list), 201: respond({ $ref: '#/Both' }) }, schemas)
    assert.deepEqual(Object.fromEntries(found), {
      '200 ': { type: 'array or null', always: true },
      '200 []': { type: 'object', always: true },
      '200 [].id': { type: 'string', always: true },
      '201 ': { type: 'object', always: false },
      '201 id': { type: 'string', always: false },
    })
  })

  test('reads the working tree as a release', () => {
    const {
      version,
      variables,
      migrations,
      operations,
      answers: responses,
    } = readRelease(workingTree())
    assert.ok(responses.get('POST /token')?.get('200 user.identities[].identity_id')?.always)
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.equal(variables.get('PORT'), '`8081`')
    assert.ok(migrations.has('0200-users'))
    assert.ok(operations.has('POST /token'))
  })
})
