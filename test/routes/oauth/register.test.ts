/** Dynamic registration (RFC 7591) and its management (RFC 7592). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { callbackUrl, ownConsentPage } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

suite('/oauth/clients/register', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app
  const registering = async () =>
    (await serverFor({ ...ownConsentPage, AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true' }))
      .app

  test('registers, reads, changes and deletes a client', async () => {
    const app = await registering()
    const register = (payload: object) =>
      app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
    const created = await register({ redirect_uris: [callbackUrl], client_name: 'Self' })
    assert.equal(created.statusCode, 201, created.body)
    const client = created.json()
    assert.equal(client.registration_type, 'dynamic')
    assert.equal(client.client_secret_expires_at, 0)
    assert.ok(client.client_secret && client.registration_access_token)
    const wrongs: [object, string][] = [
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ redirect_uris: 'x' }, 'invalid_client_metadata'],
      [{ redirect_uris: [callbackUrl], grant_types: ['password'] }, 'invalid_client_metadata'],
      [{ redirect_uris: [callbackUrl], response_types: ['token'] }, 'invalid_client_metadata'],
    ]
    for (const [body, error] of wrongs) {
      const response = await register(body)
      assert.deepEqual([response.statusCode, response.json().error], [400, error])
    }
    const url = new URL(client.registration_client_uri).pathname
    const headers = { authorization: `Bearer ${client.registration_access_token}` }
    assert.equal((await app.inject({ url, headers })).json().client_name, 'Self')
    assert.equal((await app.inject(url)).statusCode, 401)
    const payload = { redirect_uris: [callbackUrl], client_name: 'Renamed', require_pkce: false }
    const changed = await app.inject({ method: 'PUT', url, headers, payload })
    assert.equal(changed.json().client_name, 'Renamed')
    assert.equal(changed.json().require_pkce, undefined)
    assert.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
    assert.equal((await app.inject({ url, headers })).statusCode, 401)
  })

  test('registers what this server has of the requested grants, scopes and methods', async () => {
    const app = await registering()
    const register = async (fields: object) => {
      const payload = { redirect_uris: [callbackUrl], ...fields }
      const url = '/oauth/clients/register'
      return (await app.inject({ method: 'POST', url, payload })).json()
    }
    const reduced = await register({
      grant_types: ['authorization_code', 'implicit', 'refresh_token', 'client_credentials'],
      response_types: ['code', 'code id_token'],
      scope: 'openid mcp:tools email',
      token_endpoint_auth_method: 'client_secret_jwt',
    })
    assert.deepEqual(reduced.grant_types, ['authorization_code', 'refresh_token'])
    assert.deepEqual(reduced.response_types, ['code'])
    assert.equal(reduced.scope, 'openid email')
    assert.equal(reduced.token_endpoint_auth_method, 'client_secret_basic')
    assert.ok(reduced.client_secret)
    assert.equal((await register({ scope: 'mcp:tools' })).scope, 'email', 'the default scope')
    const url = new URL(reduced.registration_client_uri).pathname
    const headers = { authorization: `Bearer ${reduced.registration_access_token}` }
    const payload = { redirect_uris: [callbackUrl], grant_types: ['password', 'refresh_token'] }
    const changed = await app.inject({ method: 'PUT', url, headers, payload })
    assert.deepEqual(changed.json().grant_types, ['refresh_token'])
  })

  test('registers the redirect URI of an app with a private-use scheme', async () => {
    const app = await registering()
    const register = async (uri: string) => {
      const payload = { redirect_uris: [uri], token_endpoint_auth_method: 'none' }
      return app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
    }
    for (const uri of ['com.example.app:/callback', 'com.example.app:/', 'com.example.app://cb']) {
      assert.equal((await register(uri)).statusCode, 201, uri)
    }
    for (const uri of [
      'com.example.app:callback',
      'myapp:/callback',
      'javascript:/x',
      'http:/x',
      'com.example.app:/x#y',
    ]) {
      assert.equal((await register(uri)).json().error, 'invalid_redirect_uri', uri)
    }
  })

  test('gives public clients with the same metadata one id, and nothing to manage it with', async () => {
    const app = await registering()
    const register = async (fields: object) => {
      const payload = { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'Agent', ...fields }
      const url = '/oauth/clients/register'
      const response = await app.inject({ method: 'POST', url, payload })
      assert.equal(response.statusCode, 201, response.body)
      return response.json()
    }
    const open = { token_endpoint_auth_method: 'none' }
    const [first, second] = await Promise.all([register(open), register(open)])
    assert.equal(second.client_id, first.client_id)
    assert.equal((await register({ ...open, grant_types: undefined })).client_id, first.client_id)
    for (const { registration_access_token, registration_client_uri } of [first, second]) {
      assert.deepEqual([registration_access_token, registration_client_uri], [undefined, undefined])
    }
    const other = await register({ ...open, client_name: 'Other agent' })
    assert.notEqual(other.client_id, first.client_id)
    const secrets = [await register({}), await register({})]
    assert.notEqual(secrets[0].client_id, secrets[1].client_id)
    assert.notEqual(secrets[0].client_secret, secrets[1].client_secret)
    const path = `/admin/oauth/clients/${first.client_id}`
    await asAdmin(app, 'PUT', path, { include_default_audience: true })
    const later = await register(open)
    assert.notEqual(later.client_id, first.client_id, 'what an admin changed is for one only')
    await asAdmin(app, 'DELETE', `/admin/oauth/clients/${later.client_id}`)
    assert.notEqual((await register(open)).client_id, later.client_id)
  })

  test('rejects registration unless it is enabled', async () => {
    const app = await server()
    const payload = { redirect_uris: [callbackUrl] }
    const response = await app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
    const { error_code } = response.json()
    assert.deepEqual(
      [response.statusCode, error_code],
      [403, 'oauth_dynamic_client_registration_disabled'],
    )
  })
})
