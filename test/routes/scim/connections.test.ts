import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { statusAndCode } from '../../support/requests.ts'
import {
  clientWith,
  newOrganization,
  scimError,
  sharedScimServer,
} from '../../support/scim/clients.ts'
import { build } from '../../support/server.ts'

suite('SCIM tokens', () => {
  const newTenant = sharedScimServer()

  test('can exist several times per connection, show their last use and are revoked one by one', async () => {
    const { app, client } = await newTenant()
    const url = `/admin/scim/connections/${client.connection.id}/tokens`
    const issued = (await asAdmin(app, 'POST', url, { name: 'second' })).json()
    const second = clientWith(app, client.connection, issued.token)
    await second.request('GET', '/Users')
    type Listed = { tokens: Record<string, string | null>[] }
    const { tokens } = await adminCall<Listed>(app, 'GET', url)
    assert.deepEqual(
      tokens.map(({ name }) => name),
      ['first', 'second'],
    )
    assert.ok(tokens[1]?.last_used_at)
    assert.equal(issued.token.startsWith(tokens[1]?.prefix ?? '-'), true)
    assert.equal((await asAdmin(app, 'DELETE', `${url}/${issued.id}`)).statusCode, 204)
    assert.deepEqual(scimError(await second.send('GET', '/Users')), [401, ''])
    assert.equal((await client.send('GET', '/Users')).statusCode, 200)
    const again = await asAdmin(app, 'DELETE', `${url}/${issued.id}`)
    assert.deepEqual(statusAndCode(again), [404, 'scim_token_not_found'])
  })

  test('are stored as hashes', async () => {
    const { app, client } = await newTenant()
    const { rows } = await app.pool.query('select scim_tokens::text as text from auth.scim_tokens')
    assert.equal(rows[0].text.includes(client.token), false)
  })

  test('are rejected after they expire', async () => {
    const { app, client } = await newTenant()
    const past = new Date(Date.now() - 1000)
    const created_at = new Date(past.getTime() - 1000)
    await app.db.updateTable('scim_tokens').set({ expires_at: past, created_at }).execute()
    const response = await client.send('GET', '/Users')
    assert.deepEqual(scimError(response), [401, ''])
    assert.equal(response.headers['www-authenticate'], 'Bearer')
  })

  test('are verified before the body is read', async () => {
    const { client } = await newTenant()
    const headers = { authorization: 'Bearer x' }
    const response = await client.send('POST', '/Users', { userName: 'x' }, headers)
    assert.deepEqual(scimError(response), [401, ''])
  })
})

suite('SCIM connections', () => {
  const newTenant = sharedScimServer()

  test('reject requests while disabled', async () => {
    const { app, client } = await newTenant()
    const url = `/admin/scim/connections/${client.connection.id}`
    await adminCall(app, 'PUT', url, { enabled: false })
    assert.deepEqual(scimError(await client.send('GET', '/Users')), [403, ''])
    await adminCall(app, 'PUT', url, { enabled: true, name: 'Other' })
    assert.equal((await client.send('GET', '/Users')).statusCode, 200)
    const { name } = await adminCall<{ name: string }>(app, 'GET', url)
    assert.equal(name, 'Other')
  })

  test('of a deleted organization are rejected', async () => {
    const { app, client, organization } = await newTenant()
    const { id } = await client.create({ userName: 'ann@corp.test' })
    const deleted = await asAdmin(app, 'DELETE', `/admin/organizations/${organization}`)
    assert.equal(deleted.statusCode, 204, deleted.body)
    assert.deepEqual(scimError(await client.send('GET', `/Users/${id}`)), [403, ''])
    assert.deepEqual(scimError(await client.send('DELETE', `/Users/${id}`)), [403, ''])
    assert.deepEqual(scimError(await client.send('POST', '/Users', { userName: 'b' })), [403, ''])
  })

  test('are deleted with their users, whose accounts stay', async () => {
    const { app, client } = await newTenant()
    await client.create({ userName: 'ann@corp.test', active: false })
    const url = `/admin/scim/connections/${client.connection.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 204)
    assert.deepEqual(scimError(await client.send('GET', '/Users')), [401, ''])
    const count = async (table: string) =>
      (await app.pool.query(`select count(*)::int as count from auth.${table}`)).rows[0].count
    assert.deepEqual([await count('scim_users'), await count('users')], [0, 1])
  })

  const invalid: [what: string, body: object, status: number, code: string][] = [
    ['no name', { organization_id: 'x' }, 422, 'validation_failed'],
    ['no organization and no provider', { name: 'x' }, 422, 'validation_failed'],
    [
      'an unknown organization',
      { name: 'x', organization_id: crypto.randomUUID() },
      404,
      'organization_not_found',
    ],
    [
      'an unknown provider',
      { name: 'x', sso_provider_id: crypto.randomUUID() },
      404,
      'sso_provider_not_found',
    ],
  ]
  for (const [what, body, status, code] of invalid) {
    test(`are rejected with ${what}`, async () => {
      const { app } = await newTenant()
      const response = await asAdmin(app, 'POST', '/admin/scim/connections', body)
      assert.deepEqual(statusAndCode(response), [status, code])
    })
  }

  test('reject a role that the organization does not have', async () => {
    const { app } = await newTenant()
    const organization_id = await newOrganization(app, 'b.test')
    const body = { name: 'x', organization_id, default_role: 'king' }
    const response = await asAdmin(app, 'POST', '/admin/scim/connections', body)
    assert.deepEqual(statusAndCode(response), [422, 'organization_role_not_found'])
  })
})

suite('SCIM discovery', () => {
  const newTenant = sharedScimServer()

  const open = [
    'ServiceProviderConfig',
    'ResourceTypes',
    'Schemas',
    'ResourceTypes/User',
    'Schemas/urn:ietf:params:scim:schemas:core:2.0:Group',
  ]

  for (const path of open) {
    test(`serves ${path} without a token, with and without a connection`, async () => {
      const { app, client } = await newTenant()
      for (const base of ['/scim/v2', `/scim/v2/${client.connection.id}`]) {
        const response = await app.inject(`${base}/${path}`)
        assert.equal(response.statusCode, 200, response.body)
        assert.match(String(response.headers['content-type']), /^application\/scim\+json/)
        const filtered = await app.inject(`${base}/${path}?filter=x`)
        assert.deepEqual(scimError(filtered), [403, ''])
      }
    })
  }

  test('reports that bulk and sorting are not supported, also at their endpoints', async () => {
    const { client } = await newTenant()
    const config = await client.request<Record<string, { supported: boolean }>>(
      'GET',
      '/ServiceProviderConfig',
    )
    const supported = ['patch', 'filter', 'etag', 'bulk', 'sort', 'changePassword'].filter(
      (name) => config[name]?.supported,
    )
    assert.deepEqual(supported, ['patch', 'filter', 'etag'])
    assert.deepEqual(scimError(await client.send('POST', '/Bulk', { Operations: [] })), [501, ''])
    assert.deepEqual(scimError(await client.send('GET', '/Me')), [501, ''])
  })

  test('answers at the base address with users and groups, also with slashes', async () => {
    const { client } = await newTenant()
    const { id } = await client.create({ userName: 'ann' })
    const group = await client.createGroup('Staff', [id])
    type List = { totalResults: number; Resources: { id: string }[] }
    for (const path of ['', '/', '?count=10', '/?startIndex=1', '//']) {
      const { totalResults, Resources } = await client.request<List>('GET', path)
      assert.deepEqual([totalResults, Resources.map((one) => one.id)], [2, [id, group.id]], path)
    }
    const found = await client.request<List>('GET', `?filter=id%20eq%20%22${id}%22`)
    assert.equal(found.totalResults, 1)
    for (const path of [
      '/Users/',
      `/Users/${id}/`,
      `//Users//${id}`,
      '/Schemas/',
      '//Groups/?x=/',
    ]) {
      assert.equal((await client.send('GET', path)).statusCode, 200, path)
    }
    const made = await client.send('POST', '/Users/', { userName: 'bert' })
    assert.equal(made.statusCode, 201, made.body)
    const anonymous = { authorization: '' }
    assert.deepEqual(scimError(await client.send('GET', '/', undefined, anonymous)), [401, ''])
    assert.deepEqual(scimError(await client.send('GET', '?cursor=')), [400, 'invalidCursor'])
  })

  test('returns 404 and 405 in the form of SCIM', async () => {
    const { client } = await newTenant()
    assert.deepEqual(scimError(await client.send('GET', '/Unknown')), [404, ''])
    const response = await client.send('POST', '/ServiceProviderConfig', {})
    assert.deepEqual([scimError(response), response.headers.allow], [[405, ''], 'GET'])
  })

  test('is off by default', async (t) => {
    const { app } = await build(t)
    const response = await app.inject('/scim/v2/ServiceProviderConfig')
    assert.deepEqual(statusAndCode(response), [404, 'feature_disabled'])
  })

  test('rejects a body that is not a JSON object', async () => {
    const { app, client } = await newTenant()
    for (const payload of ['[]', 'x', '', '{"userName":"a\\u0000"}']) {
      const response = await app.inject({
        method: 'POST',
        url: `/scim/v2/${client.connection.id}/Users`,
        headers: {
          authorization: `Bearer ${client.token}`,
          'content-type': 'application/scim+json',
        },
        payload,
      })
      assert.equal(scimError(response)[0], 400, payload)
    }
  })
})
