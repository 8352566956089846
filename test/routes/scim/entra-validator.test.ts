/**
 * The requests of the SCIM validator of Entra ID (scimvalidator.microsoft.com) and of its gallery validation, as its
 * documentation and published results show them, with what each expects.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import {
  enterpriseSchema,
  groupSchema,
  patchSchema,
  type ScimClient,
  type ScimUser,
  scimError,
  scimServer,
  userSchema,
} from '../../support/scim/clients.ts'

interface List {
  totalResults: number
  startIndex: number
  Resources: ScimUser[]
}

let count = 0
/** As the validator: names without meaning. */
const random = () => {
  count += 1
  return `${crypto.randomUUID().slice(0, 8)}${count}`.toUpperCase()
}

const newUser = () => ({
  userName: `${random().toLowerCase()}@corp.test`,
  active: true,
  displayName: random(),
  title: random(),
  emails: [{ type: 'work', value: `${random().toLowerCase()}@corp.test`, primary: true }],
  preferredLanguage: 'hi',
  name: {
    givenName: 'Elfrieda',
    familyName: 'Urban',
    formatted: 'Myah',
    middleName: 'Cindy',
    honorificPrefix: 'Minerva',
    honorificSuffix: 'Micaela',
  },
  addresses: [
    {
      type: 'work',
      formatted: random(),
      streetAddress: '25928 Katlyn Row',
      locality: random(),
      region: random(),
      postalCode: 'cx47 4mz',
      primary: true,
      country: 'Sierra Leone',
    },
  ],
  phoneNumbers: [
    { type: 'work', value: '10-040-1308', primary: true },
    { type: 'mobile', value: '10-040-1308' },
    { type: 'fax', value: '10-040-1308' },
  ],
  [enterpriseSchema]: {
    employeeNumber: random(),
    department: random(),
    costCenter: random(),
    organization: random(),
    division: random(),
    manager: { value: random() },
  },
  roles: [{ primary: 'True', display: random(), value: random(), type: random() }],
  userType: random(),
  nickName: random(),
  locale: random(),
  timezone: 'America/Guayaquil',
  profileUrl: random(),
  externalId: crypto.randomUUID(),
  schemas: [userSchema, enterpriseSchema],
})

const newGroup = () => ({
  displayName: random(),
  externalId: crypto.randomUUID(),
  schemas: [groupSchema],
})

/** Operations of a verbose update: one for each attribute. */
const verbose: [path: string, value: unknown][] = [
  ['emails[type eq "work"].value', 'new@corp.test'],
  ['emails[type eq "work"].primary', true],
  ['addresses[type eq "work"].formatted', 'F'],
  ['addresses[type eq "work"].streetAddress', 'S'],
  ['addresses[type eq "work"].locality', 'L'],
  ['addresses[type eq "work"].region', 'R'],
  ['addresses[type eq "work"].postalCode', 'P'],
  ['addresses[type eq "work"].country', 'C'],
  ['phoneNumbers[type eq "work"].value', '1'],
  ['phoneNumbers[type eq "mobile"].value', '2'],
  ['phoneNumbers[type eq "fax"].value', '3'],
  ['roles[primary eq "True"].display', 'Admin'],
  ['roles[primary eq "True"].value', 'admin'],
  ['roles[primary eq "True"].type', 'app'],
  ['active', true],
  ['displayName', 'D'],
  ['title', 'T'],
  ['preferredLanguage', 'jgo-CM'],
  ['name.givenName', 'G'],
  ['name.familyName', 'N'],
  ['name.formatted', 'O'],
  ['name.middleName', 'M'],
  ['name.honorificPrefix', 'Dr.'],
  ['name.honorificSuffix', 'II'],
  ['userType', 'U'],
  ['nickName', 'K'],
  ['locale', 'X'],
  ['timezone', 'Africa/Harare'],
  ['profileUrl', 'https://corp.test/me'],
  ['externalId', 'E'],
  [`${enterpriseSchema}:employeeNumber`, '1'],
  [`${enterpriseSchema}:department`, '2'],
  [`${enterpriseSchema}:costCenter`, '3'],
  [`${enterpriseSchema}:organization`, '4'],
  [`${enterpriseSchema}:division`, '5'],
  [`${enterpriseSchema}:manager`, '6'],
]

const verboseResult = {
  emails: [{ type: 'work', value: 'new@corp.test', primary: true }],
  addresses: [
    {
      type: 'work',
      primary: true,
      formatted: 'F',
      streetAddress: 'S',
      locality: 'L',
      region: 'R',
      postalCode: 'P',
      country: 'C',
    },
  ],
  phoneNumbers: [
    { type: 'work', value: '1', primary: true },
    { type: 'mobile', value: '2' },
    { type: 'fax', value: '3' },
  ],
  roles: [{ primary: true, display: 'Admin', value: 'admin', type: 'app' }],
  name: {
    givenName: 'G',
    familyName: 'N',
    formatted: 'O',
    middleName: 'M',
    honorificPrefix: 'Dr.',
    honorificSuffix: 'II',
  },
  [enterpriseSchema]: {
    employeeNumber: '1',
    department: '2',
    costCenter: '3',
    organization: '4',
    division: '5',
    manager: { value: '6' },
  },
  active: true,
  displayName: 'D',
  title: 'T',
  preferredLanguage: 'jgo-CM',
  userType: 'U',
  nickName: 'K',
  locale: 'X',
  timezone: 'Africa/Harare',
  externalId: 'E',
  profileUrl: 'https://corp.test/me',
}

const pick = (user: ScimUser, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, user[name]]))

const manager = (user: ScimUser): unknown => Object(user[enterpriseSchema]).manager

suite('the SCIM validator of Entra ID', () => {
  const ending = endingOfSuite()
  let client: ScimClient
  before(async () => {
    client = (await scimServer(ending)).client
  })

  const find = (type: 'Users' | 'Groups', filter: string, more = '') =>
    client.request<List>('GET', `/${type}?${more}filter=${encodeURIComponent(filter)}`)
  const get = (path: string) => client.request('GET', path)
  const add = () => client.create(newUser())
  const addGroup = () => client.request('POST', '/Groups', newGroup())
  const missing = () => ({ User: `/Users/${random()}`, Group: `/Groups/${crypto.randomUUID()}` })

  /** The resource of a PATCH, which a GET then returns as well. */
  async function patched(path: string, Operations: object[]) {
    const body = { Operations, schemas: [patchSchema] }
    const user = await client.request('PATCH', path, body)
    assert.deepEqual(await get(path), user)
    return user
  }

  test('creates a user, and a duplicate that is rejected', async () => {
    const body = newUser()
    const created = await client.send('POST', '/Users', body)
    assert.equal(created.statusCode, 201, created.body)
    assert.match(String(created.headers['content-type']), /^application\/scim\+json/)
    const { Resources } = await find('Users', `userName eq "${body.userName}"`)
    assert.deepEqual(Resources, [created.json()])
    const expected = { ...body, roles: [{ ...body.roles[0], primary: true }] }
    assert.deepEqual(pick(created.json(), Object.keys(body)), expected)
    assert.deepEqual(scimError(await client.send('POST', '/Users', body)), [409, 'uniqueness'])
  })

  test('filters users, also in another letter case and by a part of a value', async () => {
    const user = await add()
    const address = `${random().toLowerCase()}@corp.test`
    await patched(`/Users/${user.id}`, [
      { op: 'replace', path: 'emails[type eq "work"].value', value: address },
    ])
    for (const filter of [
      `userName eq "${user.userName}"`,
      `userName eq "${user.userName.toUpperCase()}"`,
      `externalId eq "${user.externalId}"`,
      `emails[type eq "work"].value eq "${address}"`,
      `emails[type eq "work"] and userName eq "${user.userName}"`,
    ]) {
      assert.deepEqual(
        (await find('Users', filter)).Resources.map(({ id }) => id),
        [user.id],
      )
    }
    const none = await find('Users', `userName eq "${random()}"`)
    assert.deepEqual([none.totalResults, none.Resources], [0, []])
  })

  test('replaces attributes, with an operation for each', async () => {
    const { id } = await add()
    const operations = verbose.map(([path, value]) => ({ op: 'replace', path, value }))
    const user = await patched(`/Users/${id}`, operations)
    assert.deepEqual(pick(user, Object.keys(verboseResult)), verboseResult)
  })

  test('replaces attributes, those of one value in one operation without a path', async () => {
    const { id } = await add()
    const operations = verbose.flatMap(([path, value]) =>
      path.includes('[') ? [{ op: 'replace', path, value }] : [],
    )
    const value = Object.fromEntries(verbose.filter(([path]) => !path.includes('[')))
    const user = await patched(`/Users/${id}`, [...operations, { op: 'replace', value }])
    assert.deepEqual(pick(user, Object.keys(verboseResult)), verboseResult)
  })

  test('replaces parts of primary values that the user does not have', async () => {
    const { id } = await client.create({ userName: `${random()}@corp.test` })
    const parts = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country']
    const user = await patched(`/Users/${id}`, [
      { op: 'replace', path: 'emails[primary eq true].value', value: 'mary@corp.test' },
      { op: 'replace', path: 'phoneNumbers[primary eq true].value', value: '39-949-9451' },
      ...parts.map((part) => ({
        op: 'replace',
        path: `addresses[primary eq true].${part}`,
        value: part,
      })),
      { op: 'replace', value: { externalId: 'x' } },
    ])
    assert.deepEqual(pick(user, ['emails', 'phoneNumbers', 'addresses', 'externalId']), {
      emails: [{ primary: true, value: 'mary@corp.test' }],
      phoneNumbers: [{ primary: true, value: '39-949-9451' }],
      addresses: [{ primary: true, ...Object.fromEntries(parts.map((part) => [part, part])) }],
      externalId: 'x',
    })
  })

  test('changes the userName', async () => {
    const { id } = await add()
    const value = `${random()}@corp.test`
    const user = await patched(`/Users/${id}`, [{ op: 'Replace', path: 'userName', value }])
    assert.equal(user.userName, value)
    assert.equal((await find('Users', `userName eq "${value}"`)).totalResults, 1)
  })

  for (const [what, value] of [
    ['a boolean', false],
    ['text', 'False'],
  ] as const) {
    test(`disables a user with ${what}, who is still found`, async () => {
      const { id, userName } = await add()
      const path = `/Users/${id}`
      const off = await patched(path, [{ op: 'Replace', path: 'active', value }])
      assert.equal(off.active, false)
      const { Resources } = await find('Users', `userName eq "${userName}"`)
      assert.deepEqual(Resources, [off])
      const on = await patched(path, [{ op: 'Add', path: 'active', value: 'True' }])
      assert.equal(on.active, true)
    })
  }

  test('adds, replaces and removes the manager', async () => {
    const { id } = await client.create({ userName: `${random()}@corp.test` })
    const path = `${enterpriseSchema}:manager`
    const change = async (op: string, value: unknown) =>
      manager(await patched(`/Users/${id}`, [{ op, path, value }]))
    assert.deepEqual(await change('Add', { value: 'IHZXFLMQGJKS' }), { value: 'IHZXFLMQGJKS' })
    assert.deepEqual(await change('Replace', '1234'), { value: '1234' })
    assert.deepEqual(await change('Replace', [{ $ref: null, value: '5' }]), { value: '5' })
    assert.equal(await change('replace', { value: '' }), undefined)
    await change('Add', '1234')
    assert.equal(await change('Replace', ''), undefined)
    assert.equal(manager(await patched(`/Users/${id}`, [{ op: 'Remove', path }])), undefined)
  })

  test('applies several operations to different attributes and to the same one', async () => {
    const { id } = await add()
    const different = await patched(`/Users/${id}`, [
      { op: 'remove', path: 'nickName' },
      { op: 'add', path: 'title', value: 'Dr.' },
      { op: 'replace', value: { externalId: 'y' } },
    ])
    assert.deepEqual(pick(different, ['nickName', 'title', 'externalId']), {
      nickName: undefined,
      title: 'Dr.',
      externalId: 'y',
    })
    const same = await patched(`/Users/${id}`, [
      { op: 'remove', path: 'title' },
      { op: 'add', path: 'title', value: 'A' },
      { op: 'replace', path: 'title', value: 'B' },
    ])
    assert.equal(same.title, 'B')
  })

  test('empties optional attributes with empty text and with null', async () => {
    const { id } = await add()
    const paths = verbose
      .map(([path]) => path)
      .filter((path) => !['active', 'displayName'].includes(path) && !path.includes('primary'))
    for (const value of ['', null]) {
      const user = await patched(
        `/Users/${id}`,
        paths.map((path) => ({ op: 'Replace', path, value })),
      )
      assert.deepEqual(pick(user, ['title', 'name', enterpriseSchema, 'externalId']), {
        title: undefined,
        name: undefined,
        [enterpriseSchema]: undefined,
        externalId: undefined,
      })
      assert.deepEqual(user.emails, [{ type: 'work', primary: true }])
    }
  })

  test('deletes a user, twice, and one that never was', async () => {
    const { id } = await add()
    const path = `/Users/${id}`
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    assert.deepEqual(scimError(await client.send('GET', path)), [404, ''])
    assert.deepEqual(scimError(await client.send('DELETE', path)), [404, ''])
    assert.deepEqual(scimError(await client.send('DELETE', missing().User)), [404, ''])
  })

  test('creates a group, and a duplicate that is rejected', async () => {
    const body = {
      ...newGroup(),
      schemas: [
        groupSchema,
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      members: [],
      meta: { resourceType: 'Group' },
    }
    const created = await client.send('POST', '/Groups', body)
    assert.equal(created.statusCode, 201, created.body)
    assert.equal(created.json().displayName, body.displayName)
    assert.ok(created.headers.location)
    assert.deepEqual(scimError(await client.send('POST', '/Groups', body)), [409, 'uniqueness'])
  })

  test('gets and filters groups without their members, also in another letter case', async () => {
    const { id: member } = await add()
    const group = await client.request('POST', '/Groups', {
      ...newGroup(),
      members: [{ value: member }],
    })
    const without = 'excludedAttributes=members'
    assert.equal((await get(`/Groups/${group.id}?${without}`)).members, undefined)
    const name = String(group.displayName)
    for (const filter of [`displayName eq "${name}"`, `displayName eq "${name.toLowerCase()}"`]) {
      const { Resources } = await find('Groups', filter, `${without}&`)
      assert.deepEqual(
        Resources.map((one) => [one.id, one.members]),
        [[group.id, undefined]],
      )
    }
    const held = `id eq "${group.id}" and members eq "${member}"`
    assert.equal((await find('Groups', held)).totalResults, 1)
    assert.equal((await find('Groups', `displayName eq "${random()}"`)).totalResults, 0)
  })

  test('replaces attributes of a group', async () => {
    const { id } = await addGroup()
    const [externalId, displayName] = [crypto.randomUUID(), random()]
    const first = await patched(`/Groups/${id}`, [{ op: 'replace', value: { externalId } }])
    assert.equal(first.externalId, externalId)
    const renamed = await patched(`/Groups/${id}`, [{ op: 'replace', value: { displayName } }])
    assert.equal(renamed.displayName, displayName)
  })

  const removals: [what: string, operation: (id: string) => object][] = [
    ['a value path', (id) => ({ op: 'remove', path: `members[value eq "${id}"]` })],
    ['values', (id) => ({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] })],
  ]
  for (const [what, removal] of removals) {
    test(`adds members to a group and removes one by ${what}`, async () => {
      const { id } = await addGroup()
      const [{ id: ann }, { id: bert }] = [await add(), await add()]
      const path = `/Groups/${id}`
      const members = [{ value: ann }, { value: bert }]
      await patched(path, [{ op: 'Add', path: 'members', value: [{ $ref: null, value: ann }] }])
      await patched(path, [{ op: 'replace', path: 'members', value: members }])
      const left = await patched(path, [removal(ann)])
      assert.deepEqual(
        [left.members].flat().map((one) => Object(one).value),
        [bert],
      )
    })
  }

  test('adds and removes a member of a group in one request', async () => {
    const { id } = await addGroup()
    const { id: value } = await add()
    const group = await patched(`/Groups/${id}`, [
      { op: 'add', path: 'members', value: [{ value }] },
      { op: 'remove', path: `members[value eq "${value}"]` },
    ])
    assert.equal(group.members, undefined)
  })

  test('deletes a group, twice, and one that never was', async () => {
    const { id } = await addGroup()
    const path = `/Groups/${id}`
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    assert.deepEqual(scimError(await client.send('GET', path)), [404, ''])
    assert.deepEqual(scimError(await client.send('DELETE', path)), [404, ''])
    assert.deepEqual(scimError(await client.send('DELETE', missing().Group)), [404, ''])
  })

  for (const type of ['Users', 'Groups'] as const) {
    test(`reads pages of ${type}`, async () => {
      for (let i = 0; i < 11; i += 1) await (type === 'Users' ? add() : addGroup())
      const seen = new Set<string>()
      for (let page = 0; page < 2; page += 1) {
        const startIndex = page * 5 + 1
        const list = await client.request<List>('GET', `/${type}?startIndex=${startIndex}&count=5`)
        assert.deepEqual([list.startIndex, list.Resources.length], [startIndex, 5])
        for (const { id } of list.Resources) seen.add(id)
      }
      assert.equal(seen.size, 10)
    })
  }

  test('discovers every attribute that it maps', async () => {
    interface Attribute {
      name: string
      subAttributes?: Attribute[]
    }
    const { Resources } = await client.request<{
      Resources: { id: string; attributes: Attribute[] }[]
    }>('GET', '/Schemas')
    const names = Resources.flatMap(({ id, attributes }) =>
      attributes.flatMap(({ name, subAttributes = [] }) =>
        ['', ...subAttributes.map((part) => `.${part.name}`)].map((part) =>
          [id === enterpriseSchema ? `${id}:` : '', name, part].join(''),
        ),
      ),
    )
    const known = new Set(names.map((name) => name.toLowerCase()))
    const mapped = [...verbose.map(([path]) => path), 'userName', 'displayName', 'members.value']
    const missed = mapped
      .map((path) => path.replace(/\[.*\]/, ''))
      .filter((path) => path !== 'externalId' && !known.has(path.toLowerCase()))
    assert.deepEqual(missed, [])
  })
})
