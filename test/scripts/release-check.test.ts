import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { answersOf } from '../../scripts/release/answers.ts'
import { brokenPromises, changeBetween, type Release } from '../../scripts/release/compare.ts'
import { readRelease, workingTree } from '../../scripts/release/read.ts'

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
const answering = (type: string, always: boolean) =>
  new Map([['POST /token', new Map([['200 user.id', { type, always }]])]])
const longer = new Map([['AUTH_JWT_EXP', '`7200`']])
const contracted = new Map([
  ...release.migrations,
  ['0002-less', `alter table users drop column x; await serveFrom(db, '0001-users')`],
])
const dropping = new Map([...release.migrations, ['0002-less', 'alter table users drop column x']])
const adding = new Map([...release.migrations, ['0002-more', 'alter table users add column x']])

suite('promises of a version', () => {
  const cases: [string, string, Partial<Release>, RegExp | undefined][] = [
    ['nothing changes', '1.2.4', {}, undefined],
    [
      'an operation goes with a patch',
      '1.2.4',
      { operations: without.operations },
      /token is gone/,
    ],
    ['an operation goes with a minor', '1.3.0', { operations: without.operations }, /is gone/],
    ['an operation goes with a major', '2.0.0', { operations: without.operations }, undefined],
    ['a field is demanded', '1.3.0', { operations: stricter }, /demands body password/],
    ['a field is forgotten', '1.3.0', { operations: fewer }, /no longer knows body password/],
    ['an answer loses a field', '1.3.0', { answers: fewer }, /no longer answers 200 user.id/],
    ['an answer loses a field', '2.0.0', { answers: fewer }, undefined],
    ['a field may be missing', '1.2.4', { answers: answering('string', false) }, /may now leave/],
    ['a field has another type', '1.2.4', { answers: answering('integer', true) }, /as integer/],
    ['a variable goes', '1.3.0', { variables: without.variables }, /AUTH_JWT_EXP is gone/],
    ['a default changes with a patch', '1.2.4', { variables: longer }, /was `3600`/],
    ['a default changes with a minor', '1.3.0', { variables: longer }, undefined],
    ['a column goes with a patch', '1.2.4', { migrations: dropping }, /takes something away/],
    [
      'a column goes with a minor, and the last release still needs it',
      '1.3.0',
      { migrations: dropping },
      /has to say by serveFrom which migration of 1\.2\.3/,
    ],
    [
      'a column goes with a minor after the last release stopped needing it',
      '1.3.0',
      { migrations: contracted },
      undefined,
    ],
    ['a column comes with a patch', '1.2.4', { migrations: adding }, undefined],
    ['history is gone', '2.0.0', { migrations: without.migrations }, /0001-users is gone/],
    [
      'history is rewritten',
      '2.0.0',
      { migrations: new Map([['0001-users', 'create table people']]) },
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

  test('a version must be above the last one, and be one', () => {
    assert.throws(() => changeBetween('1.2.3', '1.2.3'), /not above/)
    assert.throws(() => changeBetween('1.2.3', '1.2'), /no semantic version/)
  })

  test('the answers of an operation are read through references, lists and choices', () => {
    const id = { type: 'string' }
    const schemas = {
      User: { type: 'object', properties: { id }, required: ['id'] },
      Both: {
        anyOf: [{ $ref: '#/components/schemas/User' }, { type: 'object', properties: { id } }],
      },
    }
    const answer = (schema: object) => ({ content: { 'application/json': { schema } } })
    const list = { type: ['array', 'null'], items: { $ref: '#/components/schemas/User' } }
    const found = answersOf({ 200: answer(list), 201: answer({ $ref: '#/Both' }) }, schemas)
    assert.deepEqual(Object.fromEntries(found), {
      '200 ': { type: 'array or null', always: true },
      '200 []': { type: 'object', always: true },
      '200 [].id': { type: 'string', always: true },
      '201 ': { type: 'object', always: false },
      '201 id': { type: 'string', always: false },
    })
  })

  test('this tree can be read as a release', () => {
    const { version, variables, migrations, operations, answers } = readRelease(workingTree())
    assert.ok(answers.get('POST /token')?.get('200 user.identities[].identity_id')?.always)
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.equal(variables.get('PORT'), '`8081`')
    assert.ok(migrations.has('0001-users'))
    assert.ok(operations.has('POST /token'))
  })
})
