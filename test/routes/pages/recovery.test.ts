/** A new password after a recovery, at the hosted pages. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage, accountUser, addApp, makeStale } from '../../support/account-pages.ts'
import { everyFactor, totpCode } from '../../support/factors/factors.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { createClient, makePkce, oauthServer } from '../../support/oauth-server.ts'
import { authorizeUrl, linkAt, openBrowser, reasonIn, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { confirmAddress, password } from '../../support/users.ts'

const env = { ...oauthServer, ...everyFactor, ...accountPage }

suite('a new password after a recovery', () => {
  const serverFor = sharedServers()

  test('is set by a user with a second factor after this factor', async () => {
    const { app, mail } = await serverFor(env)
    const { browser: own, email, user } = await accountUser(app)
    await confirmAddress(app, user.id)
    const secret = await addApp(own)
    const browser = openBrowser(app)
    const client = await createClient(app)
    const signIn = await browser.open(authorizeUrl(client, makePkce().challenge))
    const recover = await browser.open(linkAt(signIn, /recover/))
    const since = mail.messages.length
    const typing = await browser.submit(recover, { email })
    const code = codeIn(await nextEmail({ mail }, email, since))
    const second = await browser.submit(typing, { code, action: 'verify' })
    assert.equal(titleIn(second), 'Second factor')
    const factor = { code: totpCode(secret, 1), action: 'totp' }
    const choose = await browser.submit(second, factor)
    assert.equal(titleIn(choose), 'Reset your password')
    const consent = await browser.submit(choose, { password: `new ${password}` })
    assert.equal(titleIn(consent), 'App requests access to your account')
  })

  test('is not set in a session without a recovery: the page sends a link first', async () => {
    const { app } = await serverFor({
      ...env,
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    })
    const { browser, user } = await accountUser(app)
    await makeStale(app, user.id, 2 * 86_400)
    const form = await browser.open('/sign-in/password')
    const asked = await browser.submit(form, { password: `new ${password}` })
    assert.equal(titleIn(asked), 'Reset your password')
    assert.match(reasonIn(asked) ?? '', /^Sign in again to continue/)
  })
})
