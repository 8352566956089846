/** OAuth clients created, changed and deleted by admins. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import {
  createClient,
  oauthServer,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const path = '/admin/oauth/clients'

suite('OAuth clients', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  test('creates a confidential client with a secret that is shown once', async () => {
    const app = await server()
    const client = await createClient(app, { scope: 'openid email', response_types: ['code'] })
    assert.match(client.client_secret ?? '', /^[\w-]{43}$/)
    assert.equal(client.client_type, 'confidential')
    assert.equal(client.token_endpoint_auth_method, 'client_secret_basic')
    assert.deepEqual(client.grant_types, ['authorization_code', 'refresh_token'])
    assert.equal(client.registration_type, 'manual')
    const { client_secret: _, ...shown } = client
    assert.deepEqual((await asAdmin(app, 'GET', `${path}/${client.client_id}`)).json(), shown)
  })

  test('creates a public client without a secret', async () => {
    const app = await server()
    const client = await createClient(app, { token_endpoint_auth_method: 'none' })
    assert.equal(client.client_type, 'public')
    assert.equal(client.client_secret, undefined)
    const regenerated = await asAdmin(app, 'POST', `${path}/${client.client_id}/regenerate_secret`)
    assert.deepEqual(statusAndCode(regenerated), [400, 'validation_failed'])
  })

  const rejected: Record<string, object> = {
    'no redirect URI': { redirect_uris: [] },
    'eleven redirect URIs': {
      redirect_uris: Array.from({ length: 11 }, (_, at) => `https://app.example/${at}`),
    },
    'a redirect URI with a comma': { redirect_uris: ['https://app.example/a,https://b.example'] },
    'a redirect URI with a fragment': { redirect_uris: ['https://app.example/#x'] },
    'a redirect URI without a host': { redirect_uris: ['myapp:callback'] },
    'plain http on another host': { redirect_uris: ['http://app.example/cb'] },
    'a script as redirect URI': { redirect_uris: ['javascript://app.example/%0aalert(1)'] },
    'a data redirect URI': { redirect_uris: ['data://text/html,x'] },
    'a name that is too long': { client_name: 'x'.repeat(1025) },
    'a logo that is not a web address': { logo_uri: 'javascript:alert(1)' },
    'a client page that is a file': { client_uri: 'file:///etc/passwd' },
    'an unknown method': { token_endpoint_auth_method: 'tls_client_auth' },
    'a public client with a secret': {
      client_type: 'public',
      token_endpoint_auth_method: 'client_secret_post',
    },
    'a public client without PKCE': { client_type: 'public', require_pkce: false },
    'an unknown grant type': { grant_types: ['password'] },
    'a key method without keys': { token_endpoint_auth_method: 'private_key_jwt' },
    'a resource that is not a URI': { resources: ['mcp'] },
  }
  for (const [name, fields] of Object.entries(rejected)) {
    test(`rejects ${name}`, async () => {
      const app = await server()
      const body = { redirect_uris: ['https://app.example/cb'], ...fields }
      assert.deepEqual(statusAndCode(await asAdmin(app, 'POST', path, body)), [
        400,
        'validation_failed',
      ])
    })
  }

  test('accepts loopback addresses and private schemes as redirect URIs', async () => {
    const app = await server()
    const redirect_uris = ['http://127.0.0.1/cb', 'http://[::1]:8080/', 'myapp://callback']
    assert.deepEqual((await createClient(app, { redirect_uris })).redirect_uris, redirect_uris)
  })

  test('changes only the fields that are sent', async () => {
    const app = await server()
    const client = await createClient(app, { client_uri: 'https://app.example' })
    const url = `${path}/${client.client_id}`
    const change = { client_name: 'Other', client_uri: '', client_type: 'public' }
    const changed = (await asAdmin(app, 'PUT', url, change)).json()
    assert.equal(changed.client_name, 'Other')
    assert.equal(changed.client_uri, undefined)
    assert.equal(changed.client_type, 'confidential')
    assert.deepEqual(changed.redirect_uris, client.redirect_uris)
    for (const nothing of [
      {},
      { client_type: 'public' },
      { redirect_uris: [] },
      { grant_types: [] },
    ]) {
      const response = await asAdmin(app, 'PUT', url, nothing)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], JSON.stringify(nothing))
    }
  })

  test('lists clients newest first, by page', async () => {
    const app = await server()
    const [first, second] = [await createClient(app), await createClient(app)]
    const all = (await asAdmin(app, 'GET', `${path}?page=&per_page=`)).json().clients
    const ids = all.map(({ client_id }: { client_id: string }) => client_id)
    assert.ok(ids.indexOf(second.client_id) < ids.indexOf(first.client_id))
    assert.equal(all[0].client_secret, undefined)
    const page = await asAdmin(app, 'GET', `${path}?page=2&per_page=1`)
    assert.equal(page.json().clients[0].client_id, ids[1])
    assert.equal(page.headers['x-total-count'], String(ids.length))
  })

  test('replaces the secret and revokes the sessions of the client unless keep_sessions is set', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const tokens = await signInClient(app, client, user)
    const url = `${path}/${client.client_id}/regenerate_secret`
    const kept = (await asAdmin(app, 'POST', url, { keep_sessions: true })).json()
    const old = await refreshTokens(app, client, tokens.refresh_token)
    assert.equal(old.json().error, 'invalid_client')
    const refreshed = await refreshTokens(app, kept, tokens.refresh_token)
    assert.equal(refreshed.statusCode, 200, refreshed.body)
    const replaced = (await asAdmin(app, 'POST', url)).json()
    const ended = await refreshTokens(app, replaced, refreshed.json().refresh_token)
    assert.deepEqual(statusAndCode(ended), [400, 'refresh_token_not_found'])
  })

  test('returns 400 for a malformed id and 404 for an unknown one', async () => {
    const app = await server()
    assert.deepEqual(statusAndCode(await asAdmin(app, 'GET', `${path}/x`)), [
      400,
      'validation_failed',
    ])
    const unknown = await asAdmin(app, 'GET', `${path}/${crypto.randomUUID()}`)
    assert.deepEqual(statusAndCode(unknown), [404, 'oauth_client_not_found'])
  })

  test('records changes by admins in the audit log without the secret', async () => {
    const app = await server()
    const client = await createClient(app)
    await asAdmin(app, 'PUT', `${path}/${client.client_id}`, { client_name: 'Other' })
    await asAdmin(app, 'DELETE', `${path}/${client.client_id}`)
    const entries = await app.db
      .selectFrom('audit_log_entries')
      .select('payload')
      .where(
        (eb) => eb.fn<string>('strpos', [eb.cast('payload', 'text'), eb.val(client.client_id)]),
        '>',
        '0',
      )
      .orderBy('created_at')
      .execute()
    const actions = entries.map(({ payload }) => payload.action)
    assert.deepEqual(actions, [
      'oauth_client_created',
      'oauth_client_updated',
      'oauth_client_deleted',
    ])
    assert.ok(!JSON.stringify(entries).includes(client.client_secret ?? ''))
  })
})
