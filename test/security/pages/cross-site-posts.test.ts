/** Forms of other sites, which browsers send without the cookie (SameSite=Lax), do not end the session of the user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage, accountUser } from '../../support/account-pages.ts'
import { everyFactor } from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { createClient, oauthServer } from '../../support/oauth-server.ts'
import { openBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

const after = 'https://app.example/bye'

const targets = [
  '/sign-in',
  '/sign-in/create',
  '/sign-in/recover',
  '/sign-in/password',
  '/sign-in/factor',
  '/oauth/authorize',
  '/oauth/consent',
  '/oauth/device',
  '/oauth/logout',
  '/account',
  '/account/devices',
  '/account/factors',
  '/account/passkeys',
  '/account/passkeys/options',
]

suite('forms of other sites', () => {
  const serverFor = sharedServers()
  const server = async () =>
    (await serverFor({ ...oauthServer, ...accountPage, ...everyFactor, ...passkeysOn })).app

  test('do not replace the cookie of the browser', async () => {
    const app = await server()
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const path of targets) {
      const response = await openBrowser(app, headers).send('POST', path, { x: '1' })
      assert.equal(response.headers['set-cookie'], undefined, path)
    }
  })

  test('are continued with the cookie when a client requests a logout by POST', async () => {
    const app = await server()
    const client = await createClient(app, { post_logout_redirect_uris: [after] })
    const { browser } = await accountUser(app)
    const { client_id } = client
    const passedOn = { post_logout_redirect_uri: after, client_id, state: 'x y' }
    const asked = { ...passedOn, ignored: 'z' }
    const posted = await openBrowser(app).send('POST', '/oauth/logout', asked)
    assert.equal(posted.status, 303)
    const target = `${app.config.AUTH_API_EXTERNAL_URL}/oauth/logout`
    assert.equal(posted.location, `${target}?${new URLSearchParams(passedOn)}`)
    const page = await browser.open(posted.location ?? '')
    assert.equal(titleIn(page), 'Sign out')
    assert.equal(titleIn(await browser.open('/account')), 'Your account')
  })
})
