/** The OAuth server while AUTH_OAUTH_SERVER_ENABLED is off: it returns error codes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { adminToken, autoconfirm, signUpUser } from '../../support/users.ts'

suite('disabled OAuth server', () => {
  const serverFor = sharedServers()

  test('returns feature_disabled or not_found at each endpoint', async () => {
    const { app } = await serverFor(autoconfirm)
    const { access_token: token } = await signUpUser(app)
    const disabled = [404, 'feature_disabled']
    for (const path of ['/oauth/authorize', '/oauth/userinfo', '/oauth/consent', '/oauth/device']) {
      assert.deepEqual(statusAndCode(await app.inject(path)), disabled, path)
    }
    for (const path of ['/oauth/token', '/oauth/par', '/oauth/clients/register']) {
      assert.deepEqual(statusAndCode(await call(app, path, {})), disabled, path)
    }
    const grants = await call(app, '/user/oauth/grants', undefined, { token })
    assert.deepEqual(statusAndCode(grants), disabled)
    const admin = { token: await adminToken(app) }
    const clients = await call(app, '/admin/oauth/clients', undefined, admin)
    assert.deepEqual(statusAndCode(clients), disabled)
    for (const path of ['/sign-in', '/sign-in/create', '/sign-in/recover']) {
      assert.deepEqual(statusAndCode(await app.inject(path)), [404, 'not_found'], path)
    }
    assert.equal((await app.inject('/.well-known/openid-configuration')).statusCode, 200)
  })
})
