/** Codes of devices are short, so attempts at them are counted (RFC 8628 §5.1, §5.4). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createClient, oauthServer, postForm } from '../../support/oauth-server.ts'
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
    const again = await browser.submit(consent, { action: 'approve' })
    assert.equal(errorIn(again), 'The code is wrong or has expired.')
  })
})
