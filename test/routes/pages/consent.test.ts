/** The consent page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { userWithTotp } from '../../support/factors/factors.ts'
import {
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  oauthServer,
} from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  openBrowser,
  refreshIn,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { password, signUpUser } from '../../support/users.ts'

suite('consent page', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  test('signs a user in and sends the code to the client', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const { verifier, challenge } = makePkce()
    const browser = openBrowser(app)
    const signIn = await browser.open(authorizeUrl(client, challenge))
    assert.equal(titleIn(signIn), 'Sign in')
    assert.match(signIn.html, /to continue to App/)
    const consent = await browser.submit(signIn, { email, password, action: 'password' })
    assert.equal(titleIn(consent), 'App requests access to your account')
    assert.match(consent.html, /see your email address/)
    assert.match(consent.html, /app\.example/)
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(done.status, 200)
    const target = new URL(refreshIn(done.html) ?? '')
    assert.equal(`${target.origin}${target.pathname}`, callbackUrl)
    assert.equal(target.searchParams.get('state'), 's')
    const code = target.searchParams.get('code') ?? ''
    const response = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(response.statusCode, 200, response.body)
  })

  test('redirects with access_denied when the user denies', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const consent = await browser.open(authorizeUrl(client, makePkce().challenge))
    const done = await browser.submit(consent, { action: 'deny' })
    assert.match(refreshIn(done.html) ?? '', /error=access_denied/)
  })

  test('requires the second factor before consent', async () => {
    const { app } = await serverFor({ ...oauthServer, AUTH_MFA_TOTP_ENROLL_ENABLED: 'true' })
    const client = await createClient(app)
    const { email, factor } = await userWithTotp(app)
    const browser = openBrowser(app)
    const signIn = await browser.open(authorizeUrl(client, makePkce().challenge))
    const second = await browser.submit(signIn, { email, password, action: 'password' })
    assert.equal(titleIn(second), 'Second factor')
    const wrong = await browser.submit(second, { code: '000000', action: 'totp' })
    assert.equal(errorIn(wrong), 'The code is wrong or has expired.')
    const consent = await browser.submit(second, { code: factor.code(1), action: 'totp' })
    assert.equal(titleIn(consent), 'App requests access to your account')
  })

  test('responds to prompt=none without a page', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const none = { prompt: 'none' }
    const getError = (url: string | undefined) => new URL(url ?? '').searchParams.get('error')
    const signedOut = await openBrowser(app).open(authorizeUrl(client, makePkce().challenge, none))
    assert.equal(getError(signedOut.location), 'login_required')
    const browser = await signedInBrowser(app, email)
    const withoutConsent = await browser.open(authorizeUrl(client, makePkce().challenge, none))
    assert.equal(getError(withoutConsent.location), 'consent_required')
    const consent = await browser.open(authorizeUrl(client, makePkce().challenge))
    await browser.submit(consent, { action: 'approve' })
    const granted = await browser.open(authorizeUrl(client, makePkce().challenge, none))
    assert.ok(new URL(granted.location ?? '').searchParams.get('code'))
  })

  test('requires a new sign-in for prompt=login and for an exceeded max_age', async () => {
    const app = await server()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const again = await browser.open(
      authorizeUrl(client, makePkce().challenge, { prompt: 'login' }),
    )
    assert.equal(titleIn(again), 'Sign in')
    const consent = await browser.submit(again, { email, password, action: 'password' })
    assert.equal(titleIn(consent), 'App requests access to your account')
    const recent = await browser.open(
      authorizeUrl(client, makePkce().challenge, { max_age: '1000', prompt: 'consent' }),
    )
    assert.equal(titleIn(recent), 'App requests access to your account')
    const old = await browser.open(authorizeUrl(client, makePkce().challenge, { max_age: '0' }))
    assert.equal(titleIn(old), 'Sign in')
  })

  test('says what is granted, to whom and for how long', async () => {
    const app = await server()
    const client = await createClient(app, { client_name: 'Calendar' })
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const scope = 'openid email offline_access'
    const { html } = await browser.open(authorizeUrl(client, makePkce().challenge, { scope }))
    for (const shown of [
      'Calendar requests access to your account',
      `Signed in as <bdi class="address">${email}</bdi>`,
      'see your email address',
      'keep this access while you are not using it',
      'You will be redirected to app.example. This access lasts until you remove it.',
    ]) {
      assert.ok(html.includes(shown), shown)
    }
  })

  test('escapes the name of a client', async () => {
    const app = await server()
    const client = await createClient(app, { client_name: '<script>alert(1)</script>' })
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const { html } = await browser.open(authorizeUrl(client, makePkce().challenge))
    assert.ok(!html.includes('<script>alert'))
    assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;'))
  })
})
