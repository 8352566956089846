/** Sign-ins of an organization that begin at the hosted pages: each returns to them, with the reason if it failed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage } from '../../support/account-pages.ts'
import { createClient, makePkce, oauthServer } from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  linkAt,
  openBrowser,
  type PageResponse,
  reasonIn,
  refreshIn,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { buildAssertion, buildSamlResponse, signedResponse } from '../../support/saml/idp.ts'
import { addIdp, ask, post, requestIn, samlOn } from '../../support/saml/server.ts'
import type { App } from '../../support/server.ts'
import { password, signUpUser } from '../../support/users.ts'

const env = { ...oauthServer, ...accountPage, ...samlOn }
const address = 'ann@corp.example'

suite('a sign-in of an organization', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(env)).app

  /** A browser that was sent to the identity provider, from the sign-in page of a client's request. */
  async function atProvider(app: App) {
    await app.db.deleteFrom('sso_providers').execute()
    const { idp, id } = await addIdp(app, { domains: ['corp.example'] })
    const browser = openBrowser(app)
    const signIn = await browser.open(authorizeUrl(await createClient(app), makePkce().challenge))
    const leaving = await browser.submit(signIn, { email: address, action: 'sso' })
    const { request, relayState } = requestIn(refreshIn(leaving.html) ?? '')
    const requestId = / ID="([^"]+)"/.exec(request)?.[1] ?? ''
    /** The provider posts from its own site, without our cookies. */
    const respond = async (xml: string, state = relayState) =>
      browser.open((await post(app, xml, state)).location.href)
    return { idp, id, browser, requestId, relayState, respond }
  }

  /** The sign-in page of the same request, which a password completes. */
  async function canContinue(
    app: App,
    { browser }: { browser: ReturnType<typeof openBrowser> },
    page: PageResponse,
  ) {
    assert.equal(titleIn(page), 'Sign in')
    assert.match(page.html, /to continue to <bdi>App|to continue to App/)
    const { email } = await signUpUser(app)
    const consent = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(titleIn(consent), 'App requests access to your account')
  }

  test('leads to the consent page of the request', async () => {
    const app = await server()
    const { idp, requestId, respond, browser } = await atProvider(app)
    const consent = await respond(signedResponse({ idp, requestId }))
    assert.equal(titleIn(consent), 'App requests access to your account', errorIn(consent))
    assert.ok(consent.html.includes(address))
    const done = await browser.submit(consent, { action: 'approve' })
    assert.match(refreshIn(done.html) ?? '', /code=/)
  })

  test('returns to the request when the response is refused', async () => {
    const app = await server()
    const sent = await atProvider(app)
    const { idp, requestId } = sent
    const unsigned = buildSamlResponse({ idp, requestId }, buildAssertion({ idp, requestId }))
    const back = await sent.respond(unsigned)
    assert.match(reasonIn(back) ?? '', /^The provider could not complete the sign-in/)
    await canContinue(app, sent, back)
  })

  test('returns to the request when it took too long', async () => {
    const app = await server()
    const sent = await atProvider(app)
    const old = { created_at: new Date(Date.now() - 130_000) }
    await app.db.updateTable('saml_relay_states').set(old).execute()
    const back = await sent.respond(signedResponse(sent))
    assert.match(reasonIn(back) ?? '', /^The sign-in took too long or was already completed/)
    await canContinue(app, sent, back)
  })

  test('returns to the request when the response is posted again', async () => {
    const app = await server()
    const sent = await atProvider(app)
    const xml = signedResponse(sent)
    await post(app, xml, sent.relayState)
    const back = await sent.respond(xml)
    assert.match(reasonIn(back) ?? '', /^The sign-in took too long or was already completed/)
    await canContinue(app, sent, back)
  })

  test('returns to the site when a browser that began none posts an unknown response', async () => {
    const app = await server()
    const { idp } = await atProvider(app)
    const { location } = await post(app, signedResponse({ idp }), crypto.randomUUID())
    const { headers } = await app.inject(location.pathname + location.search)
    const site = new URL(String(headers.location))
    assert.equal(site.origin, 'http://app.example')
    assert.equal(site.searchParams.get('error_code'), 'saml_relay_state_not_found')
  })

  test('returns to the request when the provider was switched off meanwhile', async () => {
    const app = await server()
    const sent = await atProvider(app)
    await ask(app, 'PUT', `/${sent.id}`, { disabled: true })
    const back = await sent.respond(signedResponse(sent))
    assert.match(reasonIn(back) ?? '', /^Your organization’s sign-in is not available/)
    await canContinue(app, sent, back)
  })

  test('stays at the sign-in page when it cannot begin', async () => {
    const app = await server()
    const sent = await atProvider(app)
    const signIn = await sent.browser.open(
      authorizeUrl(await createClient(app), makePkce().challenge),
    )
    const other = await sent.browser.submit(signIn, { email: 'ann@other.example', action: 'sso' })
    assert.match(errorIn(other) ?? '', /^No organization signs in with this address/)
    assert.match(other.html, /value="ann@other.example"/)
    await ask(app, 'PUT', `/${sent.id}`, { disabled: true })
    const off = await sent.browser.submit(other, { email: address, action: 'sso' })
    assert.match(errorIn(off) ?? '', /^Your organization’s sign-in is not available/)
    await canContinue(app, sent, off)
  })

  test('is offered where there are no passwords', async () => {
    const { app } = await serverFor({ ...env, AUTH_EXTERNAL_EMAIL_ENABLED: 'false' })
    const page = await openBrowser(app).open('/sign-in')
    assert.match(page.html, /Sign in with your organization/)
    const { app: without } = await serverFor({ ...oauthServer, ...accountPage })
    assert.doesNotMatch((await openBrowser(without).open('/sign-in')).html, /organization/)
  })
})

suite('an error page of single sign-on', () => {
  const serverFor = sharedServers()
  const headers = {
    accept: 'text/html',
    'sec-fetch-mode': 'navigate',
    'content-type': 'application/x-www-form-urlencoded',
  }

  test('says that the sign-in is not available, and leads back to where it began', async () => {
    const { app } = await serverFor(env)
    const callback = 'http://auth.example/sign-in/callback?next=%2Faccount'
    for (const [redirect_to, expected] of [
      [callback, /^http:\/\/auth.example\/sign-in\/callback\?.*error_code=sso_provider_not_found/],
      ['http://app.example/', /^http:\/\/auth.example\/account$/],
    ] as const) {
      const payload = new URLSearchParams({ domain: 'unknown.example', redirect_to }).toString()
      const request = { method: 'POST', url: '/sso', headers, payload } as const
      const { body: html, statusCode: status, headers: sent } = await app.inject(request)
      assert.equal(status, 404)
      const page = { path: request.url, html, status, location: undefined, headers: sent }
      assert.equal(titleIn(page), 'Your organization’s sign-in is not available')
      assert.match(linkAt(page, /./), expected)
    }
  })

  test('says so where SAML is off', async () => {
    const { app } = await serverFor({ ...oauthServer, ...accountPage })
    const request = { method: 'POST', url: '/sso/saml/acs', headers, payload: 'a=b' } as const
    const { body: html, statusCode: status, headers: sent } = await app.inject(request)
    assert.equal(status, 404)
    const page = { path: request.url, html, status, location: undefined, headers: sent }
    assert.equal(titleIn(page), 'Your organization’s sign-in is not available')
    assert.equal(linkAt(page, /./), 'http://auth.example/account')
  })
})
