/** Every sign-in method of the hosted pages that needs no script. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { describe, verifiedProfile } from '../../support/external.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../support/messages/mail-links.ts'
import { buildWithSms } from '../../support/messages/phone-journeys.ts'
import { createClient, makePkce, oauthServer } from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  linkAt,
  openBrowser,
  type PageResponse,
  reasonIn,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedExternalServers, sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { newAddress, newNumber, password, signUpUser } from '../../support/users.ts'

/** A browser that a client has sent to the sign-in page. */
async function atSignIn(app: App) {
  const client = await createClient(app)
  const browser = openBrowser(app)
  const page = await browser.open(authorizeUrl(client, makePkce().challenge))
  assert.equal(titleIn(page), 'Sign in')
  return { browser, page }
}

const isConsent = (page: PageResponse) =>
  assert.equal(titleIn(page), 'App requests access to your account')

suite('sign-in methods of the pages', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(oauthServer)
  const external = sharedExternalServers()

  test('sign a user in with an emailed code', async () => {
    const { app, mail } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const since = mail.messages.length
    const typing = await browser.submit(page, { email, action: 'code' })
    assert.equal(titleIn(typing), 'Enter the code')
    const wrong = await browser.submit(typing, { code: '000000', action: 'verify' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const code = codeIn(await nextEmail({ mail }, email, since))
    isConsent(await browser.submit(wrong, { code: ` ${code} `, action: 'verify' }))
  })

  test('sign a user in with an emailed link, in the browser that requested it only', async () => {
    const { app, mail } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const since = mail.messages.length
    await browser.submit(page, { email, action: 'code' })
    const link = linkIn(await nextEmail({ mail }, email, since))
    assert.equal(titleIn(await openBrowser(app).open(link)), 'Sign in')
    isConsent(await browser.open(link))
  })

  test('create an account by an emailed code', async () => {
    const { app, mail } = await server()
    const email = newAddress()
    const { browser, page } = await atSignIn(app)
    const typing = await browser.submit(page, { email, action: 'code' })
    const code = codeIn(await nextEmail({ mail }, email))
    isConsent(await browser.submit(typing, { code, action: 'verify' }))
  })

  test('show the same page for an unknown address where sign-up is disabled', async () => {
    const { app } = await serverFor({ ...oauthServer, AUTH_DISABLE_SIGNUP: 'true' })
    const { browser, page } = await atSignIn(app)
    const typing = await browser.submit(page, { email: newAddress(), action: 'code' })
    assert.equal(titleIn(typing), 'Enter the code')
  })

  test('confirm a new account by its link and continue', async () => {
    const { app, mail } = await serverFor({ ...oauthServer, AUTH_MAILER_AUTOCONFIRM: 'false' })
    const email = newAddress()
    const { browser, page } = await atSignIn(app)
    const create = await browser.open(
      /href="[^"]*(\/sign-in\/create\?next=[^"]*)"/.exec(page.html)?.[1] ?? '',
    )
    const sent = await browser.submit(create, { email, password })
    assert.equal(titleIn(sent), 'Check your email')
    isConsent(await browser.open(linkIn(await nextEmail({ mail }, email))))
  })

  test('confirm a new account by the code of its email', async () => {
    const { app, mail } = await serverFor({ ...oauthServer, AUTH_MAILER_AUTOCONFIRM: 'false' })
    const email = newAddress()
    const { browser, page } = await atSignIn(app)
    const create = await browser.open(linkAt(page, /sign-in\/create/))
    const typing = await browser.submit(create, { email, password })
    assert.match(typing.html, /enter the code here/)
    const wrong = await browser.submit(typing, { code: '000000', action: 'verify' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const code = codeIn(await nextEmail({ mail }, email))
    isConsent(await browser.submit(wrong, { code, action: 'verify' }))
  })

  test('set a new password by the code of the recovery email, requested by address or username', async () => {
    const { app, mail } = await serverFor({ ...oauthServer, AUTH_USERNAMES_ENABLED: 'true' })
    const { email, user } = await signUpUser(app)
    const username = `ann.${crypto.randomUUID().slice(0, 8)}`
    // The first proof of an address drops a name that the user chose before it.
    await adminCall(app, 'PUT', `/admin/users/${user.id}/username`, { username })
    for (const [index, name] of [email, username].entries()) {
      const { browser, page } = await atSignIn(app)
      const recover = await browser.open(linkAt(page, /sign-in\/recover/))
      const since = mail.messages.length
      const typing = await browser.submit(recover, { email: name })
      assert.equal(titleIn(typing), 'Check your email')
      const wrong = await browser.submit(typing, { code: '000000', action: 'verify' })
      assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
      const code = codeIn(await nextEmail({ mail }, email, since))
      const choose = await browser.submit(wrong, { code, action: 'verify' })
      assert.equal(titleIn(choose), 'Reset your password')
      isConsent(await browser.submit(choose, { password: `new ${index} ${password}` }))
    }
    // An unknown name and address look like known ones.
    for (const name of ['un.known', newAddress()]) {
      const browser = openBrowser(app)
      const typing = await browser.submit(await browser.open('/sign-in/recover'), { email: name })
      assert.equal(titleIn(typing), 'Check your email')
      const wrong = await browser.submit(typing, { code: '000000', action: 'verify' })
      assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    }
  })

  test('accept the code of an earlier email when another one is requested too soon', async () => {
    const { app, mail } = await serverFor({ ...oauthServer, AUTH_SMTP_MAX_FREQUENCY: '60' })
    const { email } = await signUpUser(app)
    const since = mail.messages.length
    const { browser, page } = await atSignIn(app)
    const first = await browser.submit(page, { email, action: 'code' })
    const signIn = await browser.open(linkAt(first, /\/sign-in\?/))
    const again = await browser.submit(signIn, { email, action: 'code' })
    assert.match(errorIn(again) ?? '', /^No new message was sent/)
    const code = codeIn(await nextEmail({ mail }, email, since))
    isConsent(await browser.submit(again, { code, action: 'verify' }))
  })

  test('set a new password by a recovery link', async () => {
    const { app, mail } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const recover = await browser.open(
      /href="[^"]*(\/sign-in\/recover\?next=[^"]*)"/.exec(page.html)?.[1] ?? '',
    )
    const since = mail.messages.length
    assert.equal(titleIn(await browser.submit(recover, { email })), 'Check your email')
    const choose = await browser.open(linkIn(await nextEmail({ mail }, email, since)))
    assert.equal(titleIn(choose), 'Reset your password')
    const weak = await browser.submit(choose, { password: 'x' })
    assert.match(errorIn(weak) ?? '', /^Choose another password/)
    isConsent(await browser.submit(choose, { password: `new ${password}` }))
    const after = await atSignIn(app)
    const old = await after.browser.submit(after.page, { email, password, action: 'password' })
    assert.equal(errorIn(old), 'The email address or the password is wrong.')
    const changed = { email, password: `new ${password}`, action: 'password' }
    const { browser: other, page: signIn } = await atSignIn(app)
    const asked = await other.submit(signIn, changed)
    assert.match(reasonIn(asked) ?? '', /^A sign-in method that was added within the last day/)
  })

  test('show the same page after a recovery for an unknown address', async () => {
    const { app } = await server()
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in/recover')
    assert.equal(titleIn(await browser.submit(page, { email: newAddress() })), 'Check your email')
  })

  test('sign a user in with a code by SMS', async (t: TestContext) => {
    const env = { ...oauthServer, AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
    const { app, sms } = await buildWithSms(t, { env })
    const phone = newNumber()
    const { browser, page } = await atSignIn(app)
    const typing = await browser.submit(page, { phone: `+${phone}`, action: 'sms' })
    assert.equal(titleIn(typing), 'Enter the code')
    const code = await sms.code(phone)
    isConsent(await browser.submit(typing, { code, action: 'verify' }))
  })

  test('sign a user in through an external provider', async () => {
    const { app, fakes } = await external(oauthServer)
    const email = newAddress()
    describe(fakes, 'github', verifiedProfile(email, '4711'))
    const { browser, page } = await atSignIn(app)
    assert.match(page.html, /Continue with GitHub/)
    const start = /href="([^"]*\/authorize\?provider=github[^"]*)"/.exec(page.html)?.[1] ?? ''
    const redirected = await browser.send('GET', start.replaceAll('&amp;', '&'))
    // Unknown parameters of /authorize are passed to the provider, as in GoTrue; this one rejects them.
    const provider = new URL(redirected.location ?? '')
    provider.searchParams.delete('redirect_to')
    const back = await fetch(provider, { redirect: 'manual' })
    assert.equal(back.status, 302, fakes.github.deviations.join())
    const { search } = new URL(back.headers.get('location') ?? '')
    const consent = await browser.open(`/callback${search}`)
    isConsent(consent)
    assert.ok(consent.html.includes(email))
  })

  test('reject a form with malformed data of a passkey', async () => {
    const { app } = await serverFor({ ...oauthServer, ...passkeysOn })
    const { browser, page } = await atSignIn(app)
    const answer = { credential: '{', challenge_id: 'x', action: 'passkey' }
    const rejected = await browser.submit(page, answer)
    assert.equal(rejected.status, 400)
    assert.equal(errorIn(rejected), 'Something went wrong. Try again.')
  })

  test('return form errors as a page to browsers and as JSON to other clients', async () => {
    const { app } = await server()
    const form = { email: newAddress(), password, action: 'password', form_token: 'x' }
    const shown = await openBrowser(app).send('POST', '/sign-in', form)
    assert.equal(shown.status, 400)
    assert.match(shown.html, /This page has expired/)
    const json = await openBrowser(app, { accept: 'application/json' }).send(
      'POST',
      '/sign-in',
      form,
    )
    assert.equal(JSON.parse(json.html).error_code, 'validation_failed')
  })

  test('return an invalid authorization request as a page to browsers and as JSON to other clients', async () => {
    const { app } = await server()
    const { client_id } = await createClient(app)
    const url = `/oauth/authorize?client_id=${client_id}&redirect_uri=https://evil.example`
    const shown = await openBrowser(app).open(url)
    assert.equal(shown.status, 400)
    assert.match(shown.html, /The request of the application was rejected \(redirect_uri/)
    assert.equal((await app.inject(url)).json().error_code, 'validation_failed')
  })
})
