/** Second factors, recovery codes and linked accounts at the account page. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  accountPage,
  accountUser,
  addApp,
  type Browser,
  doneIn,
  makeStale,
} from '../../../support/account-pages.ts'
import { describe, externalServer, verifiedProfile } from '../../../support/external.ts'
import { everyFactor, totpCode, wrongCode } from '../../../support/factors/factors.ts'
import { nextEmail } from '../../../support/messages/mail-journeys.ts'
import { codeIn } from '../../../support/messages/mail-links.ts'
import { buildWithSms } from '../../../support/messages/phone-journeys.ts'
import { errorIn, refreshIn, titleIn } from '../../../support/page-browser.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { getUser } from '../../../support/requests.ts'
import { newAddress, newNumber, password } from '../../../support/users.ts'

suite('sign-in methods at the account page', () => {
  const serverFor = sharedServers()
  const server = () => serverFor({ ...everyFactor, ...accountPage })

  test('adds an authenticator app by its QR code, and removes it', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    const list = await browser.open('/account/factors')
    assert.match(list.html, /You have no second factor/)
    const scan = await browser.submit(list, { name: 'My app', action: 'add_totp' })
    assert.match(
      scan.html,
      /role="img" aria-label="QR code for the authenticator app"><span aria-hidden="true"><svg/,
    )
    const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(scan.html)?.[1]?.replaceAll(' ', '') ?? ''
    const wrong = await browser.submit(scan, { code: wrongCode(secret), action: 'verify' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    assert.ok(!wrong.html.includes('<svg'))
    const added = await browser.submit(wrong, { code: totpCode(secret), action: 'verify' })
    assert.equal(doneIn(added), 'Your change was saved.')
    assert.match(added.html, /My app/)
    const again = await browser.submit(added, { name: 'My app', action: 'add_totp' })
    assert.equal(errorIn(again), 'You already use this name. Choose another one.')
    const removed = await browser.submit(added, { action: 'remove' })
    assert.match(removed.html, /You have no second factor/)
  })

  test('adds a phone as a factor by the code sent to it', async (t: TestContext) => {
    const { app, sms } = await buildWithSms(t, { env: { ...everyFactor, ...accountPage } })
    const { browser } = await accountUser(app)
    const phone = newNumber()
    const list = await browser.open('/account/factors')
    const typing = await browser.submit(list, {
      name: 'Mine',
      phone: `+${phone}`,
      action: 'add_phone',
    })
    const wrong = await browser.submit(typing, { code: '000000', action: 'verify' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const added = await browser.submit(wrong, { code: await sms.code(phone), action: 'verify' })
    assert.equal(doneIn(added), 'Your change was saved.', added.html)
    assert.match(added.html, new RegExp(`\\+${phone}`))
  })

  test('creates recovery codes, shows them once, replaces and removes them', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      ...accountPage,
      AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
      AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
    })
    const { browser } = await accountUser(app)
    await addApp(browser)
    const make = async () =>
      codesIn(
        await browser.submit(await browser.open('/account/factors'), { action: 'make_codes' }),
      )
    const [first, second] = [await make(), await make()]
    assert.equal(first.length, 10)
    assert.equal(new Set([...first, ...second]).size, 20)
    const list = await browser.open('/account/factors')
    assert.match(list.html, /10 of 10 codes are unused/)
    assert.ok(!list.html.includes(second[0] ?? '-'))
    // The codes are no factor by themselves, so the last one is removed after them.
    assert.match(list.html, /Remove the recovery codes first/)
    assert.doesNotMatch(list.html, /value="remove"/)
    const removed = await browser.submit(list, { action: 'remove_codes' })
    assert.match(removed.html, /Create recovery codes/)
    assert.match(removed.html, /value="remove"/)
  })

  test('requires a recent confirmation by password', async () => {
    const { app } = await server()
    const { browser, user } = await accountUser(app)
    await makeStale(app, user.id)
    const asked = await startApp(browser)
    assert.equal(titleIn(asked), 'Confirm that it is you')
    const wrong = await browser.submit(asked, { password: 'wrong', action: 'password' })
    assert.equal(errorIn(wrong), 'The current password is wrong.')
    const back = await browser.submit(wrong, { password, action: 'password' })
    assert.equal(titleIn(back), 'Second factors')
    assert.match((await startApp(browser)).html, /<svg/)
  })

  test('requires a recent confirmation by emailed code', async () => {
    const { app, mail } = await server()
    const { browser, user, email } = await accountUser(app)
    await makeStale(app, user.id)
    const since = mail.messages.length
    const sent = await browser.submit(await startApp(browser), { action: 'send' })
    assert.equal(doneIn(sent), 'We sent you a code. Enter it here.')
    const wrong = await browser.submit(sent, { nonce: '000000', action: 'code' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const nonce = codeIn(await nextEmail({ mail }, email, since))
    assert.equal(titleIn(await browser.submit(wrong, { nonce, action: 'code' })), 'Second factors')
  })

  test('rejects a confirmation by a password set within a day', async () => {
    const { app } = await server()
    const { browser, user } = await accountUser(app)
    await makeStale(app, user.id)
    const form = await browser.open('/account/password')
    await browser.submit(form, { password: `new ${password}`, action: 'change' })
    const fields = { password: `new ${password}`, action: 'password' }
    const rejected = await browser.submit(await startApp(browser), fields)
    assert.match(errorIn(rejected) ?? '', /A sign-in method that was added within the last day/)
  })

  test('links an account at a provider in this browser, and unlinks it', async (t: TestContext) => {
    const { app, fakes } = await externalServer(t, { env: accountPage })
    const { browser, ...user } = await accountUser(app)
    const address = newAddress()
    describe(fakes, 'github', verifiedProfile(address, '8811'))
    const before = browser.cookie
    const list = await browser.open('/account/linked')
    assert.match(list.html, /No accounts are linked/)
    const callback = await authorizeAt(
      await browser.submit(list, { provider: 'github', action: 'link' }),
    )
    const linked = await browser.open(callback)
    assert.equal(titleIn(linked), 'Linked accounts')
    assert.ok(linked.html.includes(address), linked.html)
    assert.equal(browser.cookie.split('; ')[0], before)
    const removed = await browser.submit(linked, { action: 'unlink' })
    assert.match(removed.html, /No accounts are linked/)
    const { identities } = (await getUser(app, user)).json()
    assert.equal(identities.length, 1)
  })
})

const codesIn = ({ html }: { html: string }) =>
  [...html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, code = '']) => code)

const startApp = async (browser: Browser) =>
  browser.submit(await browser.open('/account/factors'), { name: 'App', action: 'add_totp' })

/** The callback after the sign-in at the provider. */
async function authorizeAt({ html }: { html: string }): Promise<string> {
  const provider = new URL(refreshIn(html) ?? '')
  // Unknown parameters are passed to the provider, as in GoTrue; this one rejects them.
  for (const name of ['redirect_to', 'skip_http_redirect']) provider.searchParams.delete(name)
  const back = await fetch(provider, { redirect: 'manual' })
  assert.equal(back.status, 302)
  return `/callback${new URL(back.headers.get('location') ?? '').search}`
}
