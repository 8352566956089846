/** Codes of devices are short, so attempts at them are counted (RFC 8628 §5.1, §5.4). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { userWithTotp } from '../../support/factors/factors.ts'
import {
  basic,
  createClient,
  decodeClaims,
  oauthServer,
  postForm,
  refreshTokens,
  type Tokens,
} from '../../support/oauth-server.ts'
import { errorIn, signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

suite('device codes', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  async function newDevice(app: App) {
    const client = await createClient(app, {
      client_name: 'Television',
      token_endpoint_auth_method: 'none',
      grant_types: [deviceGrant],
    })
    const asked = { client_id: client.client_id, scope: 'openid' }
    const response = await postForm(app, '/oauth/device_authorization', asked)
    return { ...response.json(), client } as { user_code: string; device_code: string }
  }

  test('throttles a user who enters many wrong codes in several browsers', async () => {
    const app = await server()
    const { email } = await signUpUser(app)
    const { user_code } = await newDevice(app)
    const browser = await signedInBrowser(app, email)
    const enter = async (by: typeof browser, code: string) =>
      by.submit(await by.open('/oauth/device'), { action: 'look_up', user_code: code })
    for (let attempt = 0; attempt < 20; attempt++) {
      const wrong = await enter(browser, 'BBBB-BBBB')
      assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    }
    const other = await signedInBrowser(app, email)
    const blocked = await enter(other, user_code)
    assert.equal(blocked.status, 429)
    assert.match(blocked.html, /Too many attempts/)
    const another = await signedInBrowser(app, (await signUpUser(app)).email)
    assert.equal(
      titleIn(await enter(another, user_code)),
      'Television requests access to your account',
    )
  })

  test('approves a code once, and only by a form of this server', async () => {
    const app = await server()
    const { user_code } = await newDevice(app)
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const forged = await browser.send('POST', '/oauth/device', { user_code, action: 'approve' })
    assert.equal(forged.status, 400)
    const consent = await browser.submit(await browser.open('/oauth/device'), {
      action: 'look_up',
      user_code,
    })
    assert.match(consent.html, /only if you started this yourself/)
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(titleIn(done), 'Your device is connected')
    const reloaded = await browser.submit(consent, { action: 'approve' })
    assert.equal(reloaded.html, done.html)
    const another = { action: 'look_up', user_code }
    const again = await browser.submit(await browser.open('/oauth/device'), another)
    assert.equal(errorIn(again), 'The code is wrong or has expired.')
  })
})

suite('device whose approving factor is removed', () => {
  const serverFor = sharedServers()
  const server = async () => {
    return (await serverFor({ ...oauthServer, AUTH_MFA_TOTP_ENROLL_ENABLED: 'true' })).app
  }

  /** Approved in a browser that verified the factor. */
  async function approvedAtAal2(app: App) {
    const client = await createClient(app, { grant_types: [deviceGrant, 'refresh_token'] })
    const requested = { scope: 'email' }
    const url = '/oauth/device_authorization'
    const { device_code, user_code } = (await postForm(app, url, requested, basic(client))).json()
    const { email, session, factor } = await userWithTotp(app)
    const browser = await signedInBrowser(app, email)
    const enter = async () =>
      browser.submit(await browser.open('/oauth/device'), { action: 'look_up', user_code })
    await browser.submit(await enter(), { code: factor.code(1), action: 'totp' })
    const consent = await enter()
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(titleIn(done), 'Your device is connected')
    const exchange = () =>
      postForm(app, '/oauth/token', { grant_type: deviceGrant, device_code }, basic(client))
    const path = `/admin/users/${session.user.id}/factors/${factor.id}`
    return { client, exchange, removeFactor: () => asAdmin(app, 'DELETE', path) }
  }

  test('rejects the device code', async () => {
    const { exchange, removeFactor } = await approvedAtAal2(await server())
    assert.equal((await removeFactor()).statusCode, 200)
    const exchanged = await exchange()
    assert.deepEqual([exchanged.statusCode, exchanged.json().error], [400, 'invalid_grant'])
  })

  test('lowers the session of the device to aal1', async () => {
    const app = await server()
    const { client, exchange, removeFactor } = await approvedAtAal2(app)
    const tokens: Tokens = (await exchange()).json()
    assert.equal(decodeClaims(tokens.access_token).aal, 'aal2')
    assert.equal((await removeFactor()).statusCode, 200)
    const refreshed: Tokens = (await refreshTokens(app, client, tokens.refresh_token)).json()
    assert.equal(decodeClaims(refreshed.access_token).aal, 'aal1')
  })
})
