/** Paths of PATCH operations: they select values as filters of GET requests do, and new values are typed likewise. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  enterpriseSchema,
  patchSchema,
  type ScimClient,
  type ScimUser,
  scimError,
  sharedScimServer,
} from '../../support/scim/clients.ts'

const custom = 'urn:ietf:params:scim:schemas:extension:corp:2.0:User'

const start = {
  userName: 'ann',
  emails: [
    { value: 'a@corp.test', type: 'work', primary: true },
    { value: 'b@corp.test', type: 'home' },
  ],
  roles: [{ value: 'reader', primary: true }, { value: 'writer' }],
  x509Certificates: [{ value: 'QUJD' }],
}
const [work, home] = start.emails

type Case = [
  what: string,
  operations: object[],
  after: (user: ScimUser) => unknown,
  expected: unknown,
]

const emails = ({ emails: list }: ScimUser) => list
const roles = ({ roles: list }: ScimUser) => list
const replaced = (path: string, value: unknown) => [{ op: 'replace', path, value }]
const added = (path: string, value: unknown) => [{ op: 'add', path, value }]
const removed = (path: string) => [{ op: 'remove', path }]

const selections: Case[] = [
  [
    'a boolean written as text',
    replaced('roles[primary eq "True"].value', 'admin'),
    roles,
    [{ value: 'admin', primary: true }, { value: 'writer' }],
  ],
  [
    'a boolean that is absent as false',
    replaced('roles[primary eq false].value', 'admin'),
    roles,
    [{ value: 'reader', primary: true }, { value: 'admin' }],
  ],
  [
    'a type in another letter case',
    replaced('emails[type eq "Work"].value', 'new@corp.test'),
    emails,
    [{ ...work, value: 'new@corp.test' }, home],
  ],
  ['an address in another letter case', removed('emails[value eq "B@Corp.test"]'), emails, [work]],
  ['the beginning of an address', removed('emails[value sw "B@"]'), emails, [work]],
  [
    'names in another letter case',
    replaced('EMAILS[TYPE eq "home"].VALUE', 'new@corp.test'),
    emails,
    [work, { ...home, value: 'new@corp.test' }],
  ],
  ['a negation', removed('emails[not (type eq "WORK")]'), emails, [work]],
  ['a present attribute', removed('emails[primary pr]'), emails, [home]],
  ['an absent attribute', removed('emails[primary eq null]'), emails, [work]],
  [
    'either of two conditions',
    removed('emails[type eq "Home" or value ew "@elsewhere.test"]'),
    emails,
    [work],
  ],
  [
    'a value whose letter case counts',
    replaced('x509Certificates[value eq "qujd"].display', 'key'),
    ({ x509Certificates }) => x509Certificates,
    [{ value: 'QUJD' }, { value: 'qujd', display: 'key' }],
  ],
  [
    'values of a removal in another letter case',
    [{ op: 'Remove', path: 'emails', value: [{ value: 'B@CORP.test' }] }],
    emails,
    [work],
  ],
]

const creations: Case[] = [
  [
    'a boolean written as text',
    added('phoneNumbers[primary eq "True"].value', '+1'),
    ({ phoneNumbers }) => phoneNumbers,
    [{ primary: true, value: '+1' }],
  ],
  [
    'several conditions',
    added('emails[type eq "other" and primary eq "true"].value', 'c@corp.test'),
    emails,
    [{ ...work, primary: false }, home, { type: 'other', primary: true, value: 'c@corp.test' }],
  ],
  [
    'parts that are sent one by one',
    [
      ...replaced('addresses[primary eq true].locality', 'Bern'),
      ...replaced('addresses[primary eq "True"].country', 'CH'),
    ],
    ({ addresses }) => addresses,
    [{ primary: true, locality: 'Bern', country: 'CH' }],
  ],
  [
    'an address that is present in another letter case',
    added('emails', [{ value: 'B@corp.test', type: 'Home' }]),
    emails,
    [work, { value: 'B@corp.test', type: 'Home' }],
  ],
]

const primaries: Case[] = [
  [
    'of a later element',
    replaced('emails[type eq "home"].primary', 'True'),
    emails,
    [
      { ...work, primary: false },
      { ...home, primary: true },
    ],
  ],
  [
    'of an earlier element',
    [
      ...replaced('emails[type eq "home"].primary', true),
      ...replaced('emails[type eq "work"].primary', true),
    ],
    emails,
    [work, { ...home, primary: false }],
  ],
]

const getCustom = (user: ScimUser) => user[custom]

const extensions: Case[] = [
  ['an attribute', added(`${custom}:badge`, '42'), getCustom, { badge: '42' }],
  [
    'an attribute without a path',
    [{ op: 'add', value: { [`${custom}:badge`]: '42' } }],
    getCustom,
    { badge: '42' },
  ],
  [
    'the extension',
    [...added(`${custom}:badge`, '42'), ...added(custom, { desk: 'A1' })],
    getCustom,
    { badge: '42', desk: 'A1' },
  ],
  [
    'a part of an attribute',
    [...added(`${custom}:desk`, { floor: 1 }), ...replaced(`${custom}:desk.room`, 'A')],
    getCustom,
    { desk: { floor: 1, room: 'A' } },
  ],
  [
    'an attribute in another letter case',
    [...added(`${custom}:badge`, '42'), ...replaced(`${custom.toUpperCase()}:BADGE`, '43')],
    getCustom,
    { badge: '43' },
  ],
  [
    'an element of a list',
    [
      ...added(`${custom}:tags`, [
        { value: 'a', On: true },
        { value: 'b', On: false },
      ]),
      ...removed(`${custom}:tags[value eq "A"]`),
    ],
    getCustom,
    { tags: [{ value: 'b', On: false }] },
  ],
  [
    'a removal',
    [...added(custom, { badge: '42' }), ...removed(`${custom}:badge`)],
    (user) => [user[custom], user.schemas],
    [undefined, ['urn:ietf:params:scim:schemas:core:2.0:User']],
  ],
  [
    'the name',
    [...added('urn:corp:hr:1.0', { x: 1 }), ...added('urn:corp:hr:1.0:y', { z: 2 })],
    (user) => user['urn:corp:hr:1.0'],
    { x: 1, y: { z: 2 } },
  ],
]

const singles: Case[] = [
  ['a string', replaced('displayName', ['Ann']), ({ displayName }) => displayName, 'Ann'],
  [
    'a string in an object, as Entra ID sent it',
    replaced('displayName', [{ $ref: null, value: 'Ann' }]),
    ({ displayName }) => displayName,
    'Ann',
  ],
  ['a boolean', replaced('active', ['False']), ({ active }) => active, false],
  [
    'a complex value',
    replaced('name', [{ givenName: 'Ann' }]),
    ({ name }) => name,
    { givenName: 'Ann' },
  ],
  [
    'a part of an element',
    replaced('emails[type eq "home"].value', ['c@corp.test']),
    emails,
    [work, { ...home, value: 'c@corp.test' }],
  ],
  ['no value', replaced('nickName', []), ({ nickName }) => nickName, undefined],
]

suite('paths of a SCIM PATCH', () => {
  const newTenant = sharedScimServer()

  async function check({ client }: { client: ScimClient }, [, operations, after, expected]: Case) {
    const { id } = await client.create(start)
    for (let i = 0; i < 2; i += 1) {
      const body = { schemas: [patchSchema], Operations: operations }
      assert.deepEqual(after(await client.request('PATCH', `/Users/${id}`, body)), expected)
    }
  }

  for (const each of selections) {
    test(`select by ${each[0]}`, async () => check(await newTenant(), each))
  }
  for (const each of creations) {
    test(`add a value by ${each[0]}`, async () => check(await newTenant(), each))
  }
  for (const each of primaries) {
    test(`move primary by the path ${each[0]}`, async () => check(await newTenant(), each))
  }
  for (const each of extensions) {
    test(`change ${each[0]} of an extension without a schema`, async () =>
      check(await newTenant(), each))
  }
  for (const each of singles) {
    test(`read a list of one as a single value: ${each[0]}`, async () =>
      check(await newTenant(), each))
  }

  test('select no element or part of an attribute that is one value', async () => {
    const { client } = await newTenant()
    const user = await client.create({ ...start, displayName: 'Ann', name: { familyName: 'A' } })
    const path = `/Users/${user.id}`
    const paths = [
      'active[value eq true]',
      'displayName[value eq "Ann"]',
      'name[familyName eq "A"]',
      'active.value',
      'displayName.value',
      `${enterpriseSchema}:department.value`,
    ]
    for (const one of paths) {
      for (const operation of [...replaced(one, false), ...removed(one)]) {
        assert.deepEqual(scimError(await client.patch(path, operation)), [400, 'invalidPath'], one)
      }
    }
    const { meta } = await client.request('GET', path)
    assert.equal(meta.version, user.meta.version)
  })

  test('leave no user without the attribute active, which would activate a deactivated one', async () => {
    const { client } = await newTenant()
    const { id } = await client.create({ ...start, active: false })
    const unset = [...replaced('active', null), ...replaced('active', [])]
    for (const operation of [...unset, { op: 'replace', value: { active: null } }]) {
      const response = await client.patch(`/Users/${id}`, operation)
      assert.deepEqual(scimError(response), [400, 'invalidValue'], JSON.stringify(operation))
      assert.equal((await client.request('GET', `/Users/${id}`)).active, false)
    }
  })

  test('begin with the longest extension that the resource or the request has', async () => {
    const { client } = await newTenant()
    const extensions = { 'urn:corp:a': { x: 1 }, 'urn:corp:a:b': { y: 2 } }
    const user = await client.create({ userName: 'ann', ...extensions })
    const path = `/Users/${user.id}`
    const inBoth = [...added('urn:corp:a:b:z', 3), ...added('urn:corp:a:z', 4)]
    await client.request('PATCH', path, { schemas: [patchSchema], Operations: inBoth })
    const Operations = added('urn:corp:a:b:c', { z: 5 })
    const schemas = [patchSchema, 'urn:corp:a:b:c']
    const changed = await client.request('PATCH', path, { schemas, Operations })
    assert.deepEqual(
      ['urn:corp:a', 'urn:corp:a:b', 'urn:corp:a:b:c'].map((name) => changed[name]),
      [{ x: 1, z: 4 }, { y: 2, z: 3 }, { z: 5 }],
    )
    const selected = await client.request('GET', `${path}?attributes=urn:corp:a:b:y,urn:corp:a:b:c`)
    assert.deepEqual(
      ['urn:corp:a', 'urn:corp:a:b', 'urn:corp:a:b:c'].map((name) => selected[name]),
      [undefined, { y: 2 }, { z: 5 }],
    )
  })

  test('reject two values for a single one', async () => {
    const { client } = await newTenant()
    const { id } = await client.create(start)
    for (const value of [['a', 'b'], [['a']]]) {
      const response = await client.patch(`/Users/${id}`, { op: 'replace', path: 'title', value })
      assert.deepEqual(scimError(response), [400, 'invalidValue'])
    }
  })

  test('select the same element as a filter of a list', async () => {
    const { client } = await newTenant()
    await client.create(start)
    const count = async (filter: string) => {
      const query = `/Users?filter=${encodeURIComponent(filter)}`
      return (await client.request<{ totalResults: number }>('GET', query)).totalResults
    }
    assert.equal(await count('emails[type eq "Work"].value eq "A@corp.test"'), 1)
    assert.equal(await count('emails[type eq "work"].value eq "b@corp.test"'), 0)
    assert.equal(
      await count('userName eq "ann" and emails[type eq "HOME"].value eq "b@corp.test"'),
      1,
    )
  })

  test('create users from lists of one', async () => {
    const { client } = await newTenant()
    const user = await client.create({
      userName: ['bert'],
      active: ['False'],
      name: [{ givenName: ['Bert'] }],
      emails: { value: 'bert@corp.test' },
    })
    assert.deepEqual(
      [user.userName, user.active, user.name, user.emails],
      ['bert', false, { givenName: 'Bert' }, [{ value: 'bert@corp.test' }]],
    )
  })

  test('ignore the name of a prototype', async () => {
    const { client } = await newTenant()
    const text = '{"__proto__": {"userName": "eve"}}'
    const body = JSON.parse(text)
    assert.deepEqual(scimError(await client.send('POST', '/Users', body)), [400, 'invalidValue'])
    const { id } = await client.create({
      userName: 'ann',
      name: JSON.parse('{"__proto__": {"a": 1}}'),
    })
    const operation = { op: 'add', path: custom, value: JSON.parse('{"__proto__": {"a": 1}}') }
    assert.equal((await client.patch(`/Users/${id}`, operation)).statusCode, 200)
  })
})
