import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  enterpriseSchema,
  findMemberRole,
  findScimAccount,
  scimError,
  sharedScimServer,
  userSchema,
} from '../../support/scim/clients.ts'

const ann = {
  userName: 'Ann@corp.test',
  name: { givenName: 'Ann', familyName: 'Other' },
  emails: [{ value: 'ann@corp.test', type: 'work', primary: true }],
  externalId: 'e1',
}

suite('SCIM users', () => {
  const newTenant = sharedScimServer()

  test('are created with an account and a membership', async () => {
    const { app, client, organization } = await newTenant()
    const response = await client.send('POST', '/Users', { schemas: [userSchema], ...ann })
    assert.equal(response.statusCode, 201, response.body)
    assert.match(String(response.headers['content-type']), /^application\/scim\+json/)
    const user = response.json()
    assert.equal(response.headers.location, user.meta.location)
    assert.equal(response.headers.etag, user.meta.version)
    assert.equal(user.active, true)
    const account = await findScimAccount(app, user.id)
    assert.equal(account.email, 'ann@corp.test')
    assert.ok(account.email_confirmed_at)
    assert.equal(
      await findMemberRole(app, organization, account.user_id ?? ''),
      'member active scim',
    )
    assert.deepEqual(await client.request('GET', `/Users/${user.id}`), user)
  })

  test('store unknown attributes but never a password', async () => {
    const { app, client } = await newTenant()
    const urn = 'urn:example:custom'
    const more = { password: 'secret-of-the-client', favoriteColor: 'red', [urn]: { x: 1 } }
    const user = await client.create({ ...ann, ...more })
    assert.deepEqual([user.favoriteColor, user[urn], user.password], ['red', { x: 1 }, undefined])
    const { rows } = await app.pool.query('select resource::text as text from auth.scim_users')
    assert.doesNotMatch(rows[0].text, /secret-of-the-client/)
  })

  test('accept attribute names in any letter case', async () => {
    const { client } = await newTenant()
    const user = await client.create({
      USERNAME: 'bert',
      Emails: [{ VALUE: 'bert@corp.test' }],
      [enterpriseSchema.toUpperCase()]: { DEPARTMENT: 'R&D', manager: 'm1' },
    })
    assert.equal(user.userName, 'bert')
    assert.deepEqual(user.emails, [{ value: 'bert@corp.test' }])
    assert.deepEqual(user[enterpriseSchema], { department: 'R&D', manager: { value: 'm1' } })
  })

  test('reject a userName that is taken, but not an externalId', async () => {
    const { client } = await newTenant()
    await client.create(ann)
    const again = await client.send('POST', '/Users', { ...ann, userName: 'ANN@corp.test' })
    assert.deepEqual(scimError(again), [409, 'uniqueness'])
    assert.match(again.json().detail, /userName/)
    const bert = await client.create({ userName: 'bert', externalId: 'e1' })
    const renamed = await client.patch(`/Users/${bert.id}`, {
      op: 'replace',
      path: 'userName',
      value: 'ann@corp.TEST',
    })
    assert.deepEqual(scimError(renamed), [409, 'uniqueness'])
    assert.match(renamed.json().detail, /userName/)
    const group = { displayName: 'Staff', externalId: 'g1' }
    await client.request('POST', '/Groups', group)
    await client.request('POST', '/Groups', { ...group, displayName: 'Team' })
  })

  const invalid: [what: string, body: object, scimType: string][] = [
    ['no userName', { emails: [] }, 'invalidValue'],
    ['an empty userName', { userName: ' ' }, 'invalidValue'],
    ['an active that is not a boolean', { userName: 'x', active: 'perhaps' }, 'invalidValue'],
    ['a name that is not an object', { userName: 'x', name: 3 }, 'invalidValue'],
  ]
  for (const [what, body, scimType] of invalid) {
    test(`reject ${what}`, async () => {
      const { client } = await newTenant()
      assert.deepEqual(scimError(await client.send('POST', '/Users', body)), [400, scimType])
    })
  }

  test('are replaced, which removes absent attributes', async () => {
    const { client } = await newTenant()
    const user = await client.create({ ...ann, title: 'Dr.' })
    const { id: _id, ...body } = user
    const replaced = await client.request('PUT', `/Users/${user.id}`, {
      ...body,
      title: null,
      nickName: 'A',
    })
    assert.deepEqual([replaced.title, replaced.nickName], [undefined, 'A'])
    assert.notEqual(replaced.meta.version, user.meta.version)
  })

  test('keep their version when a request changes nothing', async () => {
    const { client } = await newTenant()
    const user = await client.create(ann)
    const again = await client.request('PUT', `/Users/${user.id}`, user)
    assert.equal(again.meta.version, user.meta.version)
  })

  test('are changed only in the version that If-Match names', async () => {
    const { client } = await newTenant()
    const user = await client.create(ann)
    const path = `/Users/${user.id}`
    const stale = { 'if-match': 'W/"0"' }
    for (const [method, body] of [
      ['PUT', ann],
      ['DELETE', undefined],
    ] as const) {
      assert.deepEqual(scimError(await client.send(method, path, body, stale)), [412, ''])
    }
    const current = { 'if-match': user.meta.version }
    const changed = await client.send('PUT', path, { ...ann, title: 'Dr.' }, current)
    assert.equal(changed.statusCode, 200, changed.body)
    const known = { 'if-none-match': changed.json().meta.version }
    assert.equal((await client.send('GET', path, undefined, known)).statusCode, 304)
  })

  test('show the selected attributes', async () => {
    const { client } = await newTenant()
    const user = await client.create({ ...ann, [enterpriseSchema]: { department: 'R&D' } })
    const path = `/Users/${user.id}`
    const some = await client.request(
      'GET',
      `${path}?attributes=username,name.givenName,${enterpriseSchema}:department`,
    )
    assert.deepEqual(some, {
      schemas: user.schemas,
      id: user.id,
      userName: 'Ann@corp.test',
      name: { givenName: 'Ann' },
      [enterpriseSchema]: { department: 'R&D' },
    })
    const others = await client.request(
      'GET',
      `${path}?excludedAttributes=emails,name.familyName,id`,
    )
    assert.deepEqual(
      [others.emails, others.name, others.id],
      [undefined, { givenName: 'Ann' }, user.id],
    )
  })

  test('are found by filters', async () => {
    const { client } = await newTenant()
    const first = await client.create({ ...ann, title: '50%_x' })
    const second = await client.create({
      userName: 'bert',
      active: false,
      emails: [{ value: 'b@corp.test', type: 'home' }],
    })
    const group = await client.createGroup('Staff', [second.id])
    const found = async (filter: string) => {
      const path = `/Users?filter=${encodeURIComponent(filter)}`
      const { Resources } = await client.request<{ Resources: { id: string }[] }>('GET', path)
      return Resources.map(({ id }) => (id === first.id ? 'ann' : 'bert'))
    }
    const filters: [string, string[]][] = [
      ['userName eq "ANN@CORP.TEST"', ['ann']],
      [`urn:ietf:params:scim:schemas:core:2.0:User:userName sw "be"`, ['bert']],
      ['externalId eq "e1"', ['ann']],
      ['externalId eq "E1"', []],
      [`id eq "${second.id}"`, ['bert']],
      ['active eq false', ['bert']],
      ['active eq "False"', ['bert']],
      ['not (active eq false)', ['ann']],
      ['name.familyName co "THE"', ['ann']],
      ['emails pr and active eq true', ['ann']],
      ['emails.value ew "@corp.test"', ['ann', 'bert']],
      ['emails[type eq "work" and value co "ann"]', ['ann']],
      ['emails[type eq "home"].value eq "b@corp.test"', ['bert']],
      ['title eq "50%_x"', ['ann']],
      ['title co "%"', ['ann']],
      ['title ne "x"', ['ann', 'bert']],
      ['title pr', ['ann']],
      ['meta.created gt "2020-01-01T00:00:00Z"', ['ann', 'bert']],
      ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
      [`groups.value eq "${group.id}"`, ['bert']],
      ['groups pr', ['bert']],
      ['userName eq "x\' or 1=1 --"', []],
    ]
    for (const [filter, names] of filters) assert.deepEqual(await found(filter), names, filter)
  })

  const badFilters = [
    'userName',
    'userName eq',
    'unknown eq "x"',
    'name.unknown eq "x"',
    '__proto__ eq "x"',
    'constructor pr',
    'active gt true',
    'meta.created eq "soon"',
    `userName eq "${'x'.repeat(2100)}"`,
  ]
  test('reject filters that are invalid', async () => {
    const { client } = await newTenant()
    for (const filter of badFilters) {
      const response = await client.send('GET', `/Users?filter=${encodeURIComponent(filter)}`)
      assert.deepEqual(scimError(response), [400, 'invalidFilter'], filter)
    }
  })

  test('are listed by position and by cursor', async () => {
    const { client } = await newTenant()
    for (let i = 1; i <= 5; i += 1) await client.create({ userName: `user${i}` })
    type List = {
      totalResults: number
      itemsPerPage: number
      startIndex?: number
      nextCursor?: string
      Resources: { userName: string }[]
    }
    const names = ({ Resources }: List) => Resources.map(({ userName }) => userName)
    const second = await client.request<List>('GET', '/Users?startIndex=2&count=2')
    assert.deepEqual(
      [names(second), second.totalResults, second.startIndex],
      [['user2', 'user3'], 5, 2],
    )
    assert.deepEqual(names(await client.request<List>('GET', '/Users?count=0')), [])
    let cursor: string | undefined = ''
    const walked: string[] = []
    while (cursor !== undefined) {
      const page: List = await client.request<List>('GET', `/Users?count=2&cursor=${cursor}`)
      walked.push(...names(page))
      cursor = page.nextCursor
    }
    assert.deepEqual(walked, ['user1', 'user2', 'user3', 'user4', 'user5'])
    assert.deepEqual(scimError(await client.send('GET', '/Users?cursor=x')), [400, 'invalidCursor'])
  })

  test('return 404 after their deletion', async () => {
    const { app, client, organization } = await newTenant()
    const user = await client.create(ann)
    const { user_id: account } = await findScimAccount(app, user.id)
    const path = `/Users/${user.id}`
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? ann : undefined
      assert.deepEqual(scimError(await client.send(method, path, body)), [404, ''])
    }
    assert.equal(await findMemberRole(app, organization, account ?? ''), undefined)
  })
})
