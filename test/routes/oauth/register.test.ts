/** Dynamic registration (RFC 7591) and its management (RFC 7592). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

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
