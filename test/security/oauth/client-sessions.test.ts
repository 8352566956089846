/** Revocation of sessions of OAuth clients, and use of their refresh tokens. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import {
  createClient,
  ownConsentPage,
  postForm,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

suite('sessions of clients', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('revokes the sessions of a deleted client', async () => {
    const app = await server()
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app), { scope: 'openid' })
    const path = `/admin/oauth/clients/${client.client_id}`
    assert.equal((await asAdmin(app, 'DELETE', path)).statusCode, 204)
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    assert.equal((await app.inject({ url: '/oauth/userinfo', headers })).statusCode, 401)
    const refreshed = await refreshTokens(app, client, tokens.refresh_token)
    assert.equal(refreshed.json().error, 'invalid_client')
    assert.equal((await asAdmin(app, 'GET', path)).statusCode, 404)
  })

  test('revokes the session of a client when a refresh token is reused', async (t) => {
    const app = await server()
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app))
    const first = (await refreshTokens(app, client, tokens.refresh_token)).json()
    const second = (await refreshTokens(app, client, first.refresh_token)).json()
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
    const stolen = await refreshTokens(app, client, tokens.refresh_token)
    assert.deepEqual(statusAndCode(stolen), [400, 'refresh_token_already_used'])
    assert.equal((await refreshTokens(app, client, second.refresh_token)).statusCode, 400)
  })

  test('rejects a refresh without the secret of the client', async () => {
    const app = await server()
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app))
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    const { client_id } = client
    for (const fields of [
      { ...form, client_id },
      { ...form, client_id, client_secret: 'x' },
    ]) {
      const response = await postForm(app, '/oauth/token', fields)
      assert.deepEqual([response.statusCode, response.json().error], [401, 'invalid_client'])
    }
    assert.equal((await refreshTokens(app, client, tokens.refresh_token)).statusCode, 200)
  })

  test('revokes the sessions of a client when the grant is revoked and at a global sign-out', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const { access_token: token } = user
    const first = await signInClient(app, client, user)
    const url = `/user/oauth/grants?client_id=${client.client_id}`
    assert.equal((await call(app, url, undefined, { method: 'DELETE', token })).statusCode, 204)
    assert.equal((await refreshTokens(app, client, first.refresh_token)).statusCode, 400)
    const second = await signInClient(app, client, user)
    await call(app, '/logout?scope=global', {}, { token })
    assert.equal((await refreshTokens(app, client, second.refresh_token)).statusCode, 400)
  })
})
