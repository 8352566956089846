/** GET /user/export. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { makeStale } from '../../support/account-pages.ts'
import { userWithTotp } from '../../support/factors/factors.ts'
import { createClient, oauthServer, signInClient } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import { anonymousUser, autoconfirm, password, signedIn, signUpUser } from '../../support/users.ts'

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
      'exported_at',
      'user',
      'sessions',
      'passkeys',
      'recovery_codes',
      'grants',
      'activity',
    ])
    assert.equal(body.user.id, user.user.id)
    assert.deepEqual(body.grants[0].scopes, ['openid', 'email'])
    assert.ok(body.activity.length > 0)
    assert.ok(!response.body.includes(other.email))
  })

  test('requires a recent authentication, so that a copied token exports nothing', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, email, access_token: token } = await signUpUser(app)
    await makeStale(app, user.id)
    const read = () => call(app, '/user/export', undefined, { token })
    assert.deepEqual(statusAndCode(await read()), [400, 'reauthentication_needed'])
    assert.match((await read()).json().msg, /^Exporting the account requires a recent sign-in/)
    // The token of a new sign-in, and the same session once it has proven the password.
    const { access_token } = await signedIn(app, email)
    assert.equal(
      (await call(app, '/user/export', undefined, { token: access_token })).statusCode,
      200,
    )
    await changeUser(app, token, { current_password: password })
    assert.equal((await read()).statusCode, 200)
  })

  test('requires no authentication of an anonymous user, who has no credentials', async () => {
    const { app } = await serverFor({ AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const { user, access_token: token } = await anonymousUser(app)
    await makeStale(app, user.id)
    assert.equal((await call(app, '/user/export', undefined, { token })).statusCode, 200)
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
