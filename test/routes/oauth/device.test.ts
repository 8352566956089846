/** Device authorization (RFC 8628). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient, ownConsentPage, postForm } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

suite('/oauth/device_authorization', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('responds to polls with slow_down while they are too early, and with access_denied', async (t) => {
    const app = await server()
    const client = await createClient(app, {
      token_endpoint_auth_method: 'none',
      grant_types: [deviceGrant, 'refresh_token'],
    })
    const { client_id } = client
    const codes = await postForm(app, '/oauth/device_authorization', { client_id, scope: 'openid' })
    assert.equal(codes.statusCode, 200, codes.body)
    const { device_code, user_code, interval } = codes.json()
    assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const poll = () =>
      postForm(app, '/oauth/token', { grant_type: deviceGrant, device_code, client_id })
    assert.equal((await poll()).json().error, 'authorization_pending')
    assert.equal((await poll()).json().error, 'slow_down')
    for (let count = 1; count <= 3; count++) {
      t.mock.timers.tick(interval * 1000)
      assert.equal((await poll()).json().error, 'authorization_pending', 'at the fixed rate')
    }
    t.mock.timers.tick(interval * 1000)
    await app.db
      .updateTable('postern_oauth_device_codes')
      .set({ status: 'denied' })
      .where('user_code', '=', user_code.replace('-', ''))
      .execute()
    assert.equal((await poll()).json().error, 'access_denied')
    assert.equal((await poll()).json().error, 'invalid_grant')
  })
})
