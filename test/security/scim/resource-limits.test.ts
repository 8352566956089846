/** A SCIM client that sends large or unusual resources: other organizations share the server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import {
  enterpriseSchema,
  findScimAccount,
  groupSchema,
  scimError,
  sharedScimServer,
  userSchema,
} from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'

const ann = { userName: 'ann@corp.test' }

/** Different characters: Postgres compresses repeated ones. */
const longText = (length: number) =>
  Array.from({ length: Math.ceil(length / 36) }, () => crypto.randomUUID())
    .join('')
    .slice(0, length)
const elements = (count: number, prefix = 'e') =>
  Array.from({ length: count }, (_, at) => ({ value: `${prefix}${at}` }))

suite('a SCIM resource', () => {
  const newTenant = sharedScimServer()

  test('has names of at most 1024 bytes', async () => {
    const { client } = await newTenant()
    const bodies: [path: string, body: object][] = [
      ['/Users', { userName: longText(1025) }],
      ['/Users', { ...ann, externalId: longText(4000) }],
      ['/Users', { ...ann, displayName: longText(4000) }],
      ['/Groups', { schemas: [groupSchema], displayName: longText(4000) }],
    ]
    for (const [path, body] of bodies) {
      assert.deepEqual(scimError(await client.send('POST', path, body)), [400, 'invalidValue'])
    }
    await client.create({ userName: longText(1024) })
  })

  test('has at most 32 KiB, also after several changes', async () => {
    const { client } = await newTenant()
    const large = { ...ann, note: 'x'.repeat(33_000) }
    assert.deepEqual(scimError(await client.send('POST', '/Users', large)), [413, ''])
    const { id } = await client.create(ann)
    const grow = (name: string) =>
      client.patch(`/Users/${id}`, { op: 'add', path: name, value: 'x'.repeat(20_000) })
    assert.equal((await grow('one')).statusCode, 200)
    assert.deepEqual(scimError(await grow('two')), [413, ''])
    const members = elements(1000).map(() => ({ value: crypto.randomUUID() }))
    const group = { schemas: [groupSchema], displayName: 'g', members }
    const made = await client.request<{ members?: object[] }>('POST', '/Groups', group)
    assert.equal(made.members, undefined)
  })

  test('has lists of at most 500 elements that PATCH changes', async () => {
    const { client } = await newTenant()
    const { id } = await client.create({ ...ann, roles: elements(500) })
    const add = (count: number) =>
      client.patch(`/Users/${id}`, { op: 'add', path: 'roles', value: elements(count, 'f') })
    assert.equal((await add(10)).statusCode, 200)
    assert.deepEqual(scimError(await add(10)), [400, 'invalidValue'])
  })

  test('is changed by at most 1000 operations, of which each attribute of an extension is one', async () => {
    const { client } = await newTenant()
    const { id } = await client.create(ann)
    const set = (count: number) =>
      client.patch(`/Users/${id}`, {
        op: 'add',
        path: enterpriseSchema,
        value: Object.fromEntries(elements(count).map(({ value }) => [value, 1])),
      })
    assert.equal((await set(1000)).statusCode, 200)
    assert.deepEqual(scimError(await set(1001)), [413, ''])
  })

  test('gets a list without duplicates from many added elements', async () => {
    const { client } = await newTenant()
    const { id } = await client.create({ ...ann, roles: elements(400) })
    const value = [...elements(500), { value: 'e1', type: 'x' }]
    const changed = await client.patch(`/Users/${id}`, { op: 'add', path: 'roles', value })
    assert.equal(changed.json().roles.length, 501)
  })

  test('is shown with at most 200 selected attributes', async () => {
    const { client } = await newTenant()
    await client.create(ann)
    const search = (count: number) =>
      client.send('POST', '/Users/.search', { attributes: elements(count).map((e) => e.value) })
    assert.equal((await search(200)).statusCode, 200)
    assert.deepEqual(scimError(await search(201)), [400, 'invalidValue'])
  })

  test('never contains a password, however the name is written', async () => {
    const { app, client } = await newTenant()
    const secret = 'secret-of-the-client'
    const user = await client.create({ ...ann, [`${userSchema}:password`]: secret })
    const path = `/Users/${user.id}`
    for (const name of ['PassWord', `${userSchema}:PASSWORD`, 'Password.value']) {
      const named = await client.patch(path, { op: 'add', path: name, value: secret })
      assert.deepEqual(scimError(named), [400, 'mutability'])
      assert.equal((await client.patch(path, add({ [name]: secret }))).statusCode, 200)
    }
    const { rows } = await app.pool.query('select resource::text as text from auth.scim_users')
    assert.ok(!rows[0].text.includes(secret))
  })

  test('gives the account no long name', async () => {
    const { app, client } = await newTenant()
    const names = [
      { formatted: longText(5000) },
      { givenName: longText(600), familyName: longText(600) },
    ]
    for (const [at, name] of names.entries()) {
      const user = await client.create({ userName: `u${at}@corp.test`, name })
      const metadata = await findMetadata(app, user.id)
      assert.deepEqual(metadata, { email: `u${at}@corp.test` })
    }
  })

  async function findMetadata(app: App, id: string) {
    const { user_id } = await findScimAccount(app, id)
    const { user_metadata } = await adminCall(app, 'GET', `/admin/users/${user_id}`)
    const { email_verified: _verified, ...metadata } = user_metadata
    return metadata
  }
})

const add = (value: object) => ({ op: 'add', value })
