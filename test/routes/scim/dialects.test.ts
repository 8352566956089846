/** Requests in the shapes of the provisioning validators of Entra ID and Okta, and the resource afterwards. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  enterpriseSchema,
  patchSchema,
  type ScimUser,
  scimError,
  sharedScimServer,
  userSchema,
} from '../../support/scim/clients.ts'

const start = {
  schemas: [userSchema, enterpriseSchema],
  externalId: '0a21f0f2',
  userName: 'Test_User@corp.test',
  active: true,
  displayName: 'lennay',
  emails: [{ primary: true, type: 'work', value: 'test_user@corp.test' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
  [enterpriseSchema]: { department: 'Sales' },
}

type Change = [what: string, body: object, after: (user: ScimUser) => unknown, expected: unknown]

const entra = (...Operations: object[]) => ({ schemas: [patchSchema], Operations })
const getEmails = ({ emails }: ScimUser) => emails
const getExtension = (user: ScimUser) => user[enterpriseSchema]

const changes: Change[] = [
  [
    'Entra ID: replaces an attribute with a capitalized operation',
    entra({ op: 'Replace', path: 'displayName', value: 'bjfe' }),
    ({ displayName }) => displayName,
    'bjfe',
  ],
  [
    'Entra ID: deactivates with a string',
    entra({ op: 'Replace', path: 'active', value: 'False' }),
    ({ active }) => active,
    false,
  ],
  [
    'Entra ID: replaces several attributes without a path, by dotted names',
    entra({
      op: 'replace',
      value: {
        displayName: 'v3',
        'name.givenName': 'Gina',
        [`${enterpriseSchema}:department`]: 'HR',
      },
    }),
    (user) => [user.displayName, user.name, getExtension(user)],
    ['v3', { ...start.name, givenName: 'Gina' }, { department: 'HR' }],
  ],
  [
    'Entra ID: replaces the value of an email by a value path',
    entra({ op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@corp.test' }),
    getEmails,
    [{ primary: true, type: 'work', value: 'updated@corp.test' }],
  ],
  [
    'Entra ID: adds an email of another type by a value path',
    entra({ op: 'Add', path: 'emails[type eq "home"].value', value: 'home@corp.test' }),
    getEmails,
    [...start.emails, { type: 'home', value: 'home@corp.test' }],
  ],
  [
    'Entra ID: sets the manager by its id alone',
    entra({ op: 'Add', path: `${enterpriseSchema}:manager`, value: '1234' }),
    getExtension,
    { department: 'Sales', manager: { value: '1234' } },
  ],
  [
    'Entra ID: removes an attribute of an extension',
    entra({ op: 'Remove', path: `${enterpriseSchema}:department` }),
    getExtension,
    undefined,
  ],
  [
    'Entra ID: sets a role with primary as a string',
    entra({ op: 'Add', path: 'roles', value: [{ value: 'Admin', primary: 'True' }] }),
    ({ roles }) => roles,
    [{ value: 'Admin', primary: true }],
  ],
  [
    'Entra ID: changes userName',
    entra({ op: 'Replace', path: 'userName', value: '5b50642d@corp.test' }),
    ({ userName }) => userName,
    '5b50642d@corp.test',
  ],
  [
    'Okta: deactivates without a path',
    entra({ op: 'replace', value: { active: false } }),
    ({ active }) => active,
    false,
  ],
  [
    'Okta: adds a phone number without a path',
    entra({ op: 'add', value: { phoneNumbers: [{ value: '555', type: 'work' }] } }),
    ({ phoneNumbers }) => phoneNumbers,
    [{ value: '555', type: 'work' }],
  ],
  [
    'RFC 7644: replaces the given attributes of an extension',
    entra({ op: 'replace', path: enterpriseSchema, value: { division: 'North' } }),
    getExtension,
    { department: 'Sales', division: 'North' },
  ],
  [
    'RFC 7644: moves primary to the email that is added',
    entra({ op: 'add', path: 'emails', value: [{ value: 'b@corp.test', primary: true }] }),
    getEmails,
    [
      { ...start.emails[0], primary: false },
      { value: 'b@corp.test', primary: true },
    ],
  ],
  [
    'RFC 7644: removes an element by a value path',
    entra({ op: 'remove', path: 'emails[type eq "work" and value ew "corp.test"]' }),
    getEmails,
    undefined,
  ],
]

const faults: [what: string, operation: object, scimType: string][] = [
  ['an unknown operation', { op: 'move', path: 'title' }, 'invalidSyntax'],
  ['a removal without a path', { op: 'remove' }, 'noTarget'],
  ['an invalid path', { op: 'replace', path: 'a b', value: 1 }, 'invalidPath'],
  ['an invalid filter', { op: 'remove', path: 'emails[type]' }, 'invalidFilter'],
  ['a change of the id', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
  ['a change of groups', { op: 'add', path: 'groups', value: [{ value: 'x' }] }, 'mutability'],
  ['a removal of userName', { op: 'remove', path: 'userName' }, 'invalidValue'],
  [
    'a replacement of nothing',
    { op: 'replace', path: 'emails[value co "zzz"].type', value: 'x' },
    'noTarget',
  ],
]

suite('PATCH of a SCIM user', () => {
  const newTenant = sharedScimServer()

  for (const [what, body, after, expected] of changes) {
    test(`${what}, also when repeated`, async () => {
      const { client } = await newTenant()
      const { id } = await client.create(start)
      for (let i = 0; i < 2; i += 1) {
        const user = await client.request('PATCH', `/Users/${id}`, body)
        assert.deepEqual(after(user), expected)
        assert.deepEqual(await client.request('GET', `/Users/${id}`), user)
      }
    })
  }

  for (const [what, operation, scimType] of faults) {
    test(`rejects ${what} and changes nothing`, async () => {
      const { client } = await newTenant()
      const user = await client.create(start)
      const title = { op: 'add', path: 'title', value: 'x' }
      const response = await client.patch(`/Users/${user.id}`, title, operation)
      assert.deepEqual(scimError(response), [400, scimType])
      assert.deepEqual(await client.request('GET', `/Users/${user.id}`), user)
    })
  }

  test('Okta: looks up, creates, deactivates by PUT and reactivates a user', async () => {
    const { client } = await newTenant()
    const find = '/Users?filter=userName%20eq%20%22okta%40corp.test%22&startIndex=1&count=100'
    assert.equal((await client.request<{ totalResults: number }>('GET', find)).totalResults, 0)
    const body = { ...start, userName: 'okta@corp.test', password: '1mz050nq', groups: [] }
    const { id } = await client.create(body)
    const off = await client.request('PUT', `/Users/${id}`, { ...body, id, active: false })
    assert.equal(off.active, false)
    assert.equal((await client.request('PUT', `/Users/${id}`, { ...body, id })).active, true)
    const { totalResults } = await client.request<{ totalResults: number }>('GET', find)
    assert.equal(totalResults, 1)
  })

  test('Entra ID: tests the connection with a random user', async () => {
    const { client } = await newTenant()
    const filter = encodeURIComponent(`userName eq "${crypto.randomUUID()}"`)
    const list = await client.request<object>('GET', `/Users?filter=${filter}`)
    assert.deepEqual(list, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 0,
      itemsPerPage: 0,
      startIndex: 1,
      Resources: [],
    })
  })
})
