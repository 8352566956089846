/** The account page while AUTH_ACCOUNT_PAGE_ENABLED is off: it is not served. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { oauthServer } from '../../../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../../../support/page-browser.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { password, signUpUser } from '../../../support/users.ts'

suite('disabled account page', () => {
  const serverFor = sharedServers()

  test('returns 404, and a sign-in without a target redirects to the site', async () => {
    const { app } = await serverFor(oauthServer)
    for (const path of ['/account', '/account/devices', '/account/passkeys/options']) {
      assert.deepEqual(statusAndCode(await app.inject(path)), [404, 'not_found'], path)
    }
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const onward = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(refreshIn(onward.html), app.config.AUTH_SITE_URL)
  })
})
