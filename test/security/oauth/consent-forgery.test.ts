/** Consent that another site tries to give (RFC 9700 §4.16). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createClient,
  makePkce,
  oauthServer,
  ownConsentPage,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { authorizeUrl, openBrowser, signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { password, signUpUser } from '../../support/users.ts'

suite('consent forgery', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app
  const pages = async () => (await serverFor(oauthServer)).app

  test('rejects the JSON consent API for a foreign Origin', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, pkce)
    const headers = { authorization: `Bearer ${user.access_token}`, origin: 'https://evil.example' }
    const response = await app.inject({ url: `/oauth/authorizations/${id}`, headers })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })

  test('rejects a consent form sent by another site', async () => {
    const app = await pages()
    const client = await createClient(app)
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const consent = await browser.open(authorizeUrl(client, makePkce().challenge))
    const id = /name="authorization_id" value="([^"]*)"/.exec(consent.html)?.[1] ?? ''
    const token = /name="form_token" value="([^"]*)"/.exec(consent.html)?.[1] ?? ''
    const form = { authorization_id: id, action: 'approve' }
    const { cookie } = browser
    const forged = openBrowser(app, { cookie })
    assert.equal((await forged.send('POST', '/oauth/consent', form)).status, 400)
    const crossSite = openBrowser(app, { cookie, 'sec-fetch-site': 'cross-site' })
    const withToken = { ...form, form_token: token }
    assert.equal((await crossSite.send('POST', '/oauth/consent', withToken)).status, 400)
    const otherOrigin = openBrowser(app, { cookie, origin: 'https://evil.example' })
    assert.equal((await otherOrigin.send('POST', '/oauth/consent', withToken)).status, 400)
    const ours = await browser.send('POST', '/oauth/consent', withToken)
    assert.equal(ours.status, 200)
  })

  test('forbids framing, foreign scripts and caching of the pages', async () => {
    const app = await pages()
    const { headers } = await openBrowser(app).open('/sign-in')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /frame-ancestors 'none'/)
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /form-action 'self'/)
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(String(headers['set-cookie']), /HttpOnly.*; SameSite=Lax/)
  })

  test('replaces the cookie at sign-in (session fixation)', async () => {
    const app = await pages()
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const before = browser.cookie
    await browser.submit(page, { email, password, action: 'password' })
    assert.notEqual(browser.cookie, before)
    const withFixedCookie = openBrowser(app, { cookie: before })
    const client = await createClient(app)
    assert.equal(
      titleIn(await withFixedCookie.open(authorizeUrl(client, makePkce().challenge))),
      'Sign in',
    )
  })

  test('does not continue from the sign-in page to another address than a page of this server', async () => {
    const app = await pages()
    const nexts = [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/oauth/consent//x',
      '/account/../authorize',
      '/console/%2e%2E/oauth/logout',
      '/account/./..',
      'x',
    ]
    for (const next of nexts) {
      const { html } = await openBrowser(app).open(`/sign-in?next=${encodeURIComponent(next)}`)
      assert.match(html, /name="next" value=""/, next)
    }
  })
})
