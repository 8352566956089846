/** The userinfo endpoint. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient, ownConsentPage, postForm, signInClient } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signUpUser } from '../../support/users.ts'

suite('/oauth/userinfo', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('returns the claims that the scopes grant, by GET and POST', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const { access_token } = await signInClient(app, client, user, { scope: 'openid email' })
    const headers = { authorization: `Bearer ${access_token}` }
    const shown = { sub: user.user.id, email: user.email, email_verified: false }
    const got = await app.inject({ url: '/oauth/userinfo', headers })
    assert.deepEqual(got.json(), shown)
    const posted = await postForm(app, '/oauth/userinfo', { access_token })
    assert.deepEqual(posted.json(), shown)
    const own = { authorization: `Bearer ${user.access_token}` }
    const ofUser = await app.inject({ url: '/oauth/userinfo', headers: own })
    assert.deepEqual(ofUser.json(), { sub: user.user.id })
    const without = await app.inject('/oauth/userinfo')
    assert.equal(without.statusCode, 401)
    assert.match(String(without.headers['www-authenticate']), /^Bearer error="invalid_token"/)
  })
})
