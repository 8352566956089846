/** GET /user/export. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { userWithTotp } from '../../support/factors/factors.ts'
import { createClient, oauthServer, signInClient } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

suite('GET /user/export', () => {
  const serverFor = sharedServers()

  test('returns account, sessions, grants and activity, without secrets of other users', async () => {
    const { app } = await serverFor(oauthServer)
    const other = await signUpUser(app)
    const user = await signUpUser(app)
    const client = await createClient(app, { client_name: 'Calendar' })
    await signInClient(app, client, user, { scope: 'openid email' })
    const response = await call(app, '/user/export', undefined, { token: user.access_token })
    assert.equal(response.statusCode, 200, response.body)
    const body = response.json()
    assert.deepEqual(Object.keys(body), [
      ...['exported_at', 'user', 'sessions', 'passkeys', 'recovery_codes', 'grants', 'activity'],
    ])
    assert.equal(body.user.id, user.user.id)
    assert.deepEqual(body.grants[0].scopes, ['openid', 'email'])
    assert.ok(body.activity.length > 0)
    assert.ok(!response.body.includes(other.email))
  })

  test('requires aal2 of a user with a second factor', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email, session } = await userWithTotp(app)
    const low = await signedIn(app, email)
    const rejected = await call(app, '/user/export', undefined, { token: low.access_token })
    assert.equal(statusAndCode(rejected)[1], 'insufficient_aal')
    const allowed = await call(app, '/user/export', undefined, { token: session.access_token })
    assert.equal(allowed.statusCode, 200)
  })
})
