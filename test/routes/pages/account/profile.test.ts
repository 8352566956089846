/** Profile, email, phone and password at the account page. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  accountBrowser,
  accountPage,
  accountUser,
  doneIn,
  makeStale,
} from '../../../support/account-pages.ts'
import { nextEmail } from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import { buildWithSms } from '../../../support/messages/phone-journeys.ts'
import { errorIn, openBrowser, titleIn } from '../../../support/page-browser.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { getUser } from '../../../support/requests.ts'
import type { App } from '../../../support/server.ts'
import { newAddress, newNumber, password, signIn } from '../../../support/users.ts'

const fetchUser = async (app: App, token: { access_token: string }) =>
  (await getUser(app, token)).json()

suite('account page', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(accountPage)

  test('is shown after a sign-in without a target', async () => {
    const { app } = await server()
    const { email } = await accountUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const shown = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(titleIn(shown), 'Your account')
    assert.ok(shown.html.includes(email))
    assert.match(
      shown.html,
      /href="http:\/\/app\.example" rel="noreferrer">Continue to app\.example</,
    )
  })

  test('redirects an unauthenticated client to the sign-in and back', async () => {
    const { app } = await server()
    const { email } = await accountUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/account/devices')
    assert.equal(titleIn(page), 'Sign in')
    const back = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(titleIn(back), 'Devices')
  })

  test('saves the name and the language of emails', async () => {
    const { app } = await server()
    const { browser, ...user } = await accountUser(app)
    const form = await browser.open('/account/profile')
    const saved = await browser.submit(form, { name: ' Ann ', locale: 'de', action: 'save' })
    assert.equal(doneIn(saved), 'Your change was saved.')
    const { user_metadata } = await fetchUser(app, user)
    assert.deepEqual([user_metadata.name, user_metadata.locale], ['Ann', 'de'])
    await browser.submit(saved, { name: '', locale: '', action: 'save' })
    assert.equal((await fetchUser(app, user)).user_metadata.name, undefined)
  })

  test('changes the email address by codes sent to both addresses', async () => {
    const { app, mail } = await serverFor({ ...accountPage, AUTH_MAILER_AUTOCONFIRM: 'false' })
    const { email, browser } = await confirmedAccount(app, mail)
    const wanted = newAddress()
    const since = mail.messages.length
    const form = await browser.open('/account/email')
    const typing = await browser.submit(form, { email: wanted, action: 'change' })
    assert.match(typing.html, /We sent a message to both addresses/)
    const wrong = await browser.submit(typing, { code: '000000', which: 'new', action: 'verify' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const codes = [
      ['new', codeIn(await nextEmail({ mail }, wanted, since))],
      ['current', codeIn(await nextEmail({ mail }, email, since))],
    ] as const
    const [first, second] = codes
    const half = await browser.submit(wrong, { which: first[0], code: first[1], action: 'verify' })
    assert.equal(doneIn(half), 'This address is confirmed. Now confirm the other one.')
    const done = await browser.submit(half, { which: second[0], code: second[1], action: 'verify' })
    assert.equal(doneIn(done), 'Your change was saved.')
    assert.ok(done.html.includes(wanted))
  })

  test('changes the email address by link, and keeps the session', async () => {
    const { app, mail } = await serverFor({
      ...accountPage,
      AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
    })
    const { browser } = await accountUser(app)
    const wanted = newAddress()
    const before = browser.cookie
    const since = mail.messages.length
    await browser.submit(await browser.open('/account/email'), { email: wanted, action: 'change' })
    const shown = await browser.open(linkIn(await nextEmail({ mail }, wanted, since)))
    assert.equal(titleIn(shown), 'Your account')
    assert.equal(doneIn(shown), 'Your change was saved.')
    assert.ok(shown.html.includes(wanted))
    assert.equal(browser.cookie, before)
  })

  test('requires the sign-in after a link in another browser', async () => {
    const { app, mail } = await serverFor({
      ...accountPage,
      AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
    })
    const { browser, ...user } = await accountUser(app)
    const wanted = newAddress()
    const since = mail.messages.length
    await browser.submit(await browser.open('/account/email'), { email: wanted, action: 'change' })
    const inOtherBrowser = openBrowser(app)
    const shown = await inOtherBrowser.open(linkIn(await nextEmail({ mail }, wanted, since)))
    assert.equal(titleIn(shown), 'Sign in')
    assert.equal((await signIn(app, { email: wanted })).statusCode, 200)
    assert.notEqual(user.email, wanted)
  })

  test('changes the phone number by a code, and keeps the user signed in', async (t: TestContext) => {
    const env = { ...accountPage, AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
    const { app, sms } = await buildWithSms(t, { env })
    const { browser } = await accountUser(app)
    for (const phone of [newNumber(), newNumber()]) {
      const form = await browser.open('/account/phone')
      const typing = await browser.submit(form, { phone: `+${phone}`, action: 'change' })
      assert.match(typing.html, new RegExp(`We sent a code to \\+${phone}`))
      const code = await sms.code(phone)
      const page = await browser.submit(typing, { code, action: 'verify' })
      assert.equal(doneIn(page), 'Your change was saved.', page.html)
      assert.ok(page.html.includes(`+${phone}`))
    }
  })

  test('changes the password, and signs other devices out', async () => {
    const { app } = await server()
    const { browser, email } = await accountUser(app)
    const other = await accountBrowser(app, email)
    const form = await browser.open('/account/password')
    const weak = await browser.submit(form, { password: 'x', action: 'change' })
    assert.match(errorIn(weak) ?? '', /^Choose another password/)
    const chosen = `new ${password}`
    const saved = await browser.submit(weak, { password: chosen, action: 'change' })
    assert.match(doneIn(saved) ?? '', /All other devices were signed out/)
    assert.equal(titleIn(await other.open('/account')), 'Sign in')
    assert.equal((await signIn(app, { email, password: chosen })).statusCode, 200)
  })

  test('requires the current password when the API requires it', async () => {
    const { app } = await serverFor({
      ...accountPage,
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
    })
    const { browser } = await accountUser(app)
    const form = await browser.open('/account/password')
    const chosen = { password: `new ${password}`, action: 'change' }
    const without = await browser.submit(form, chosen)
    assert.equal(errorIn(without), 'Enter your current password.')
    const wrong = await browser.submit(form, { ...chosen, current: 'wrong' })
    assert.equal(errorIn(wrong), 'The current password is wrong.')
    const saved = await browser.submit(form, { ...chosen, current: password })
    assert.match(doneIn(saved) ?? '', /Your password was changed/)
  })

  test('requires a code for a password change in an old session', async () => {
    const { app, mail } = await serverFor({
      ...accountPage,
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    })
    const { browser, email, user } = await accountUser(app)
    await makeStale(app, user.id, 25 * 3600)
    const since = mail.messages.length
    const form = await browser.open('/account/password')
    const asked = await browser.submit(form, { password: `new ${password}`, action: 'change' })
    assert.equal(doneIn(asked), 'We sent you a code. Enter it here.')
    const nonce = codeIn(await nextEmail({ mail }, email, since))
    const fields = { password: `new ${password}`, nonce, action: 'change' }
    assert.match(doneIn(await browser.submit(asked, fields)) ?? '', /Your password was changed/)
  })
})

/** A user with a confirmed address on a server that requires confirmation. */
async function confirmedAccount(app: App, mail: Parameters<typeof nextEmail>[0]['mail']) {
  const email = newAddress()
  const browser = openBrowser(app)
  const page = await browser.open('/sign-in')
  const typing = await browser.submit(page, { email, action: 'code' })
  const code = codeIn(await nextEmail({ mail }, email))
  await browser.submit(typing, { code, action: 'verify' })
  return { email, browser }
}
