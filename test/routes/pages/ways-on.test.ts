/** Pages that end a journey, and error pages: each has a link to where the user goes on. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage, accountUser, makeStale } from '../../support/account-pages.ts'
import { everyFactor, totpCode } from '../../support/factors/factors.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import {
  createClient,
  makePkce,
  oauthServer,
  openRegistration,
  postForm,
  registerClient,
} from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  errorIn,
  linkAt,
  openBrowser,
  type PageResponse,
  reasonIn,
  refreshIn,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import { password, signUpUser } from '../../support/users.ts'

const everything = { ...oauthServer, ...everyFactor, ...accountPage }
const byPassword = (email: string) => ({ email, password, action: 'password' })
const isConsent = (page: PageResponse) =>
  assert.equal(titleIn(page), 'App requests access to your account', errorIn(page))

suite('ways on', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(everything)

  /** A browser at the consent page. */
  async function atConsent(app: App, fields: object = {}) {
    const client = await createClient(app, fields)
    const { email, user } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const url = authorizeUrl(client, makePkce().challenge)
    return { browser, client, email, user, consent: await browser.open(url) }
  }

  test('lead from a decided and an expired request to the application', async () => {
    const { app } = await server()
    const { browser, consent } = await atConsent(app)
    const url = linkAt(consent, /sign-in\?next=/)
    const page = new URL(url).searchParams.get('next') ?? ''
    await browser.submit(consent, { action: 'deny' })
    const decided = await browser.open(page)
    assert.equal(decided.status, 410)
    assert.equal(linkAt(decided, /./), 'https://app.example')
    const named = await atConsent(app, { client_uri: 'https://home.example/start' })
    await app.db
      .updateTable('oauth_authorizations')
      .set({ created_at: new Date(0), expires_at: new Date(1) })
      .execute()
    const next = new URL(linkAt(named.consent, /sign-in\?next=/)).searchParams.get('next') ?? ''
    const expired = await named.browser.open(next)
    assert.match(expired.html, /has expired\. Start again in the application/)
    assert.equal(linkAt(expired, /./), 'https://home.example/start')
  })

  test('lead from the request of a client that registered itself to the account page only', async () => {
    const { app } = await serverFor({ ...openRegistration, ...accountPage })
    const client = await registerClient(app, { client_uri: 'https://evil.example' })
    const { email } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const consent = await browser.open(authorizeUrl(client, makePkce().challenge))
    const next = new URL(linkAt(consent, /sign-in\?next=/)).searchParams.get('next') ?? ''
    await browser.submit(consent, { action: 'deny' })
    const decided = await browser.open(next)
    assert.equal(linkAt(decided, /./), 'http://auth.example/account')
  })

  test('continue a request with another account of the same browser', async () => {
    const { app } = await server()
    const { browser, consent, email } = await atConsent(app)
    const other = await signUpUser(app)
    const signIn = await browser.open(linkAt(consent, /sign-in\?next=/))
    assert.ok(signIn.html.includes(`Continue as ${email}`))
    const second = await browser.submit(signIn, byPassword(other.email))
    isConsent(second)
    assert.ok(second.html.includes(`Signed in as <bdi class="address">${other.email}<`))
    const done = await browser.submit(second, { action: 'approve' })
    assert.match(refreshIn(done.html) ?? '', /code=/)
  })

  test('show the sign-up to a user who is signed in for prompt=create', async () => {
    const { app } = await server()
    const { browser, client } = await atConsent(app)
    const { challenge } = makePkce()
    const create = await browser.open(authorizeUrl(client, challenge, { prompt: 'create' }))
    assert.equal(titleIn(create), 'Create an account')
    const email = `new-${crypto.randomUUID()}@example.com`
    const consent = await browser.submit(create, { email, password })
    isConsent(consent)
    assert.ok(consent.html.includes(email))
  })

  test('ask a session that is too old for a new sign-in, and return to the request', async () => {
    const { app } = await server()
    const { browser, user, email, client } = await atConsent(app)
    await makeStale(app, user.id)
    const asked = await browser.open(authorizeUrl(client, makePkce().challenge))
    assert.equal(titleIn(asked), 'Sign in')
    assert.match(reasonIn(asked) ?? '', /^Sign in again to continue/)
    assert.doesNotMatch(asked.html, /Continue as/)
    const consent = await browser.submit(asked, byPassword(email))
    isConsent(consent)
    // The page stays open for a while before the user decides.
    await makeStale(app, user.id)
    const late = await browser.submit(consent, { action: 'approve' })
    assert.match(reasonIn(late) ?? '', /^Sign in again to continue/)
    const again = await browser.submit(late, byPassword(email))
    const done = await browser.submit(again, { action: 'approve' })
    assert.match(refreshIn(done.html) ?? '', /code=/)
  })

  test('ask for another method when the one of the sign-in is too new, and return to the request', async () => {
    const { app, mail } = await server()
    const { email, client } = await atConsent(app)
    const before = mail.messages.length
    const recovering = openBrowser(app)
    const sent = await recovering.submit(await recovering.open('/sign-in/recover'), { email })
    const proof = codeIn(await nextEmail({ mail }, email, before))
    const choose = await recovering.submit(sent, { code: proof, action: 'verify' })
    await recovering.submit(choose, { password: `new ${password}` })
    const browser = openBrowser(app)
    const signIn = await browser.open(authorizeUrl(client, makePkce().challenge))
    const asked = await browser.submit(signIn, {
      ...byPassword(email),
      password: `new ${password}`,
    })
    assert.equal(titleIn(asked), 'Sign in')
    assert.match(reasonIn(asked) ?? '', /added within the last day/)
    const since = mail.messages.length
    const typing = await browser.submit(asked, { email, action: 'code' })
    const code = codeIn(await nextEmail({ mail }, email, since))
    isConsent(await browser.submit(typing, { code, action: 'verify' }))
  })

  test('lead a device through a new sign-in and back to its code', async () => {
    const { app } = await server()
    const client = await createClient(app, {
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'none',
    })
    const { email, user } = await signUpUser(app)
    const browser = await signedInBrowser(app, email)
    const started = await postForm(app, '/oauth/device_authorization', {
      client_id: client.client_id,
    })
    const { user_code } = started.json()
    await makeStale(app, user.id)
    const page = await browser.open(`/oauth/device?user_code=${user_code}`)
    const asked = await browser.submit(page, { user_code, action: 'look_up' })
    assert.match(reasonIn(asked) ?? '', /^Sign in again to continue/)
    const back = await browser.submit(asked, byPassword(email))
    assert.ok(back.html.includes(`value="${user_code}"`))
    const consent = await browser.submit(back, { user_code, action: 'look_up' })
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(titleIn(done), 'Your device is connected')
    assert.equal(linkAt(done, /./), 'http://auth.example/account')
  })

  test('lead through the enrollment of a factor that a client demands, and back', async () => {
    const { app } = await server()
    const { browser, client } = await atConsent(app)
    const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ['aal2'] } } })
    const list = await browser.open(authorizeUrl(client, makePkce().challenge, { claims }))
    assert.equal(titleIn(list), 'Second factors')
    assert.match(list.html, /Add a second factor to continue/)
    const scan = await browser.submit(list, { name: 'App', action: 'add_totp' })
    const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(scan.html)?.[1]?.replaceAll(' ', '') ?? ''
    const wrong = await browser.submit(scan, { code: '000000', action: 'verify' })
    isConsent(await browser.submit(wrong, { code: totpCode(secret), action: 'verify' }))
  })

  test('lead from an expired form back to its page', async () => {
    const { app } = await server()
    const { browser, consent, email } = await atConsent(app)
    const signIn = await browser.open(linkAt(consent, /sign-in\?next=/))
    const next = new URL(linkAt(consent, /sign-in\?next=/)).searchParams.get('next')
    // Another tab signs in, which replaces the cookie.
    await browser.submit(await browser.open('/sign-in'), byPassword(email))
    const expired = await browser.submit(signIn, byPassword(email))
    assert.match(expired.html, /This page has expired/)
    const again = await browser.open(linkAt(expired, /./))
    assert.ok(again.html.includes(`name="next" value="${next}"`))
    isConsent(await browser.submit(again, byPassword(email)))
  })

  test('lead on after a sign-out, a deletion and a rejected request', async () => {
    const { app } = await serverFor({ ...everything, AUTH_USER_SELF_DELETE_ENABLED: 'true' })
    const { browser, email } = await accountUser(app)
    const out = await browser.submit(await browser.open('/account'), { action: 'sign_out' })
    const signIn = await browser.open(linkAt(out, /./))
    assert.equal(titleIn(signIn), 'Sign in')
    await browser.submit(signIn, byPassword(email))
    const left = await browser.submit(await browser.open('/oauth/logout'), {})
    assert.equal(titleIn(await browser.open(linkAt(left, /./))), 'Sign in')
    await browser.submit(await browser.open('/sign-in'), byPassword(email))
    const form = await browser.open('/account/delete')
    const gone = await browser.submit(form, { account: email, action: 'delete' })
    assert.equal(linkAt(gone, /./), app.config.AUTH_SITE_URL)
    const rejected = await browser.open('/oauth/authorize?client_id=unknown')
    assert.equal(rejected.status, 400)
    assert.equal(linkAt(rejected, /./), 'http://auth.example/account')
    const unknown = await browser.open('/oauth/consent?authorization_id=unknown')
    assert.equal(unknown.status, 404)
    assert.equal(linkAt(unknown, /./), 'http://auth.example/account')
  })

  test('lead from /.well-known/change-password to the account page', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    assert.equal(titleIn(await browser.open('/.well-known/change-password')), 'Password')
    const { app: without } = await serverFor(oauthServer)
    assert.equal((await without.inject('/.well-known/change-password')).statusCode, 404)
  })

  const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

  test('end every error page of the API in a browser', async () => {
    const { app } = await server()
    const { app: plain } = await serverFor({})
    for (const url of ['/verify', '/nowhere', '/authorize?provider=x', '/sessions/end?token=x']) {
      for (const [one, target] of [
        [app, 'http://auth.example/account'],
        [plain, plain.config.AUTH_SITE_URL],
      ] as const) {
        const { body } = await one.inject({ url, headers: navigation })
        assert.ok(body.includes(`<a href="${target}">`), `${url} ${body}`)
      }
    }
    const posted = await app.inject({ method: 'POST', url: '/callback/x', headers: navigation })
    assert.match(posted.body, /<a href="http:\/\/auth.example\/account">/)
    const program = { accept: 'text/html' }
    const json = await app.inject({ method: 'POST', url: '/callback/x', headers: program })
    assert.equal(json.json().error_code, 'not_found')
  })

  test('lead from an exceeded limit back to the sign-in page of the same request', async () => {
    const { app } = await serverFor({
      ...everything,
      AUTH_RATE_LIMIT_VERIFY: '1',
      AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
    })
    const client = await createClient(app)
    const browser = openBrowser(app)
    const page = await browser.open(authorizeUrl(client, makePkce().challenge))
    const next = /name="next" value="([^"]*)"/.exec(page.html)?.[1] ?? ''
    const target = `http://auth.example/sign-in/callback?${new URLSearchParams({ next })}`
    const url = `/verify?${new URLSearchParams({ token: 'x', type: 'magiclink', redirect_to: target })}`
    const headers = { ...navigation, 'x-real-ip': '203.0.113.9' }
    let limited = await app.inject({ url, headers })
    for (let count = 0; count < 3 && limited.statusCode !== 429; count++) {
      limited = await app.inject({ url, headers })
    }
    assert.equal(limited.statusCode, 429, limited.body)
    const link = /<a href="([^"]*)"/.exec(limited.body)?.[1]?.replaceAll('&#38;', '&') ?? ''
    const back = await browser.open(link)
    assert.match(reasonIn(back) ?? '', /^Too many attempts/)
    assert.ok(back.html.includes(`name="next" value="${next}"`))
  })
})
