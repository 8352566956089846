/**
 * The requests of Okta's SCIM 2.0 test suites (specification test and CRUD test), and of its provisioning of users and
 * groups, as its documentation shows them, with what each expects.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import {
  groupSchema,
  patchSchema,
  type ScimClient,
  type ScimUser,
  scimServer,
  userSchema,
} from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

interface List {
  schemas: string[]
  totalResults: number
  startIndex: number
  itemsPerPage: number
  Resources: ScimUser[]
}

const random = () => crypto.randomUUID().slice(0, 13)
const newUser = (userName = `${random()}@corp.test`) => ({
  schemas: [userSchema],
  userName,
  name: { givenName: 'Isaac', familyName: 'Brock' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Isaac Brock',
  active: true,
})

suite('the SCIM test suites of Okta', () => {
  const ending = endingOfSuite()
  let app: App
  let client: ScimClient
  let known: ScimUser
  before(async () => {
    const server = await scimServer(ending)
    app = server.app
    client = server.client
    known = await client.create(newUser())
  })

  /** With the headers of Okta. */
  async function send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    authorization = `Bearer ${client.token}`,
  ) {
    const response = await app.inject({
      method,
      url: `/scim/v2/${client.connection.id}${path}`,
      headers: {
        accept: 'application/scim+json; charset=utf-8',
        'accept-charset': 'utf-8',
        'user-agent': 'Okta SCIM Client 1.0.0',
        authorization,
        'content-type': body ? 'application/json' : 'application/scim+json; charset=utf-8',
      },
      ...(body && { payload: JSON.stringify(body) }),
    })
    return { status: response.statusCode, body: response.body, json: () => response.json() }
  }

  const filtered = async (userName: string): Promise<List> => {
    const filter = encodeURIComponent(`userName eq "${userName}"`)
    const found = await send('GET', `/Users?filter=${filter}&startIndex=1&count=100`)
    assert.equal(found.status, 200, found.body)
    const list: List = found.json()
    assert.deepEqual(list.schemas, [listSchema])
    return list
  }

  function assertError(response: Awaited<ReturnType<typeof send>>, status: number) {
    const { schemas, status: stated, detail } = response.json()
    assert.deepEqual(
      [response.status, stated, schemas],
      [status, String(status), [errorSchema]],
      response.body,
    )
    assert.ok(detail)
  }

  test('reads the first user of the list', async () => {
    const found = await send('GET', '/Users?count=1&startIndex=1')
    const { schemas, totalResults, startIndex, itemsPerPage, Resources }: List = found.json()
    assert.deepEqual([found.status, schemas, startIndex, itemsPerPage], [200, [listSchema], 1, 1])
    assert.ok(totalResults >= 1)
    assert.deepEqual(Resources[0], known)
  })

  test('reads a user by the id', async () => {
    const found = await send('GET', `/Users/${known.id}`)
    assert.deepEqual([found.status, found.json()], [200, known])
  })

  test('finds no unknown user, by name and by id', async () => {
    const { totalResults, Resources } = await filtered(`${random()}@atko.test`)
    assert.deepEqual([totalResults, Resources], [0, []])
    assertError(await send('GET', '/Users/010101001010101011001010101011'), 404)
    assertError(await send('GET', '/Users/00919288221112222'), 404)
  })

  test('creates a user once', async () => {
    const body = newUser()
    assert.equal((await filtered(body.userName)).totalResults, 0)
    const created = await send('POST', '/Users', body)
    assert.equal(created.status, 201, created.body)
    const { id, active, name, userName, schemas } = created.json()
    assert.deepEqual(
      [active, name, userName, schemas],
      [true, body.name, body.userName, [userSchema]],
    )
    const found = await send('GET', `/Users/${id}`)
    assert.deepEqual([found.status, found.json()], [200, created.json()])
    assertError(await send('POST', '/Users', body), 409)
    const upper = await filtered(body.userName.toUpperCase())
    assert.equal(upper.totalResults, 1)
  })

  test('lists groups', async () => {
    const { status, json } = await send('GET', '/Groups')
    assert.deepEqual([status, Array.isArray(json().Resources)], [200, true])
    const paged = await send('GET', '/Groups?startIndex=1&count=100')
    assert.deepEqual(paged.json().Resources, json().Resources)
  })

  test('rejects a request without a token', async () => {
    assertError(await send('GET', '/Users', undefined, 'non-token'), 401)
    assertError(await send('GET', '/Users', undefined, 'Bearer non-token'), 401)
  })

  test('creates, updates, deactivates and reactivates a user with PUT', async () => {
    const { userName } = newUser()
    assert.equal((await filtered(userName)).totalResults, 0)
    const body = {
      ...newUser(userName),
      externalId: '00ujl29u0le5T6Aj10h7',
      password: '1mz050nq',
      locale: 'en-US',
      groups: [],
    }
    const { id } = await client.request('POST', '/Users', body)
    const put = async (change: object) => {
      const current = await client.request('GET', `/Users/${id}`)
      const answer = await send('PUT', `/Users/${id}`, { ...current, ...change })
      assert.equal(answer.status, 200, answer.body)
      assert.deepEqual(await client.request('GET', `/Users/${id}`), answer.json())
      return answer.json()
    }
    const renamed = await put({ name: { givenName: 'Another', familyName: 'Brock' } })
    assert.deepEqual(renamed.name, { givenName: 'Another', familyName: 'Brock' })
    assert.equal((await put({ active: false })).active, false)
    assert.equal((await filtered(userName)).Resources[0]?.active, false)
    assert.equal((await put({ active: true })).active, true)
    assert.equal((await put({ active: false, password: 'x' })).password, undefined)
  })

  test('deactivates and reactivates a user with PATCH', async () => {
    const { id } = await client.create(newUser())
    for (const active of [false, true, false]) {
      const Operations = [{ op: 'replace', value: { active } }]
      const answer = await send('PATCH', `/Users/${id}`, { schemas: [patchSchema], Operations })
      assert.deepEqual([answer.status, answer.json().active], [200, active])
    }
  })

  const pushes: [what: string, members: (id: string) => object[]][] = [
    ['with their members', (id) => [{ value: id, display: 'isaac' }]],
    ['without members', () => []],
  ]
  for (const [what, members] of pushes) {
    test(`pushes groups ${what}, renames, changes and deletes them`, async () => {
      const { id: user } = await client.create(newUser())
      const { id: other } = await client.create(newUser())
      const displayName = random()
      const body = { schemas: [groupSchema], displayName, members: members(user) }
      const { id } = await client.request('POST', '/Groups', body)
      const path = `/Groups/${id}`
      const patch = async (...Operations: object[]) => {
        const answer = await send('PATCH', path, { schemas: [patchSchema], Operations })
        assert.ok([200, 204].includes(answer.status), answer.body)
      }
      const listed = async () => {
        const group = await client.request('GET', path)
        return [group.members ?? []].flat().map((one) => Object(one).value)
      }
      await patch({ op: 'replace', value: { id, displayName: `${displayName} 2` } })
      assert.equal((await client.request('GET', path)).displayName, `${displayName} 2`)
      const both = [user, other].toSorted()
      await patch({
        op: 'replace',
        path: 'members',
        value: both.map((value) => ({ value, display: 'isaac' })),
      })
      assert.deepEqual((await listed()).toSorted(), both)
      await patch(
        { op: 'remove', path: `members[value eq "${user}"]` },
        { op: 'add', path: 'members', value: [{ value: other, display: 'isaac' }] },
      )
      assert.deepEqual(await listed(), [other])
      const put = await send('PUT', path, { ...body, id, members: [{ value: user, display: 'x' }] })
      assert.equal(put.status, 200, put.body)
      assert.deepEqual(await listed(), [user])
      const found = await send(
        'GET',
        `/Groups?filter=${encodeURIComponent(`displayName eq "${displayName}"`)}`,
      )
      assert.equal(found.json().totalResults, 1)
      assert.equal((await send('DELETE', path)).status, 204)
      assertError(await send('GET', path), 404)
    })
  }
})
