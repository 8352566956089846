/** Links and providers that do not complete a sign-in lead back to the same authorization request. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage, accountUser } from '../../support/account-pages.ts'
import {
  describe,
  type ProviderUser,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
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
import { newAddress, password, signUpUser } from '../../support/users.ts'

type Browser = ReturnType<typeof openBrowser>

const byPassword = (email: string) => ({ email, password, action: 'password' })
const isConsent = (page: PageResponse) =>
  assert.equal(titleIn(page), 'App requests access to your account', errorIn(page))

/** A browser that a client has sent to the sign-in page. */
async function atSignIn(app: App, browser: Browser = openBrowser(app)) {
  const client = await createClient(app)
  const page = await browser.open(authorizeUrl(client, makePkce().challenge))
  return { browser, page }
}

/** Back at the sign-in page of the request, where the user signs in by password and reaches the consent page. */
async function continues(browser: Browser, page: PageResponse, email: string, reason: RegExp) {
  assert.equal(page.status, 200)
  assert.equal(titleIn(page), 'Sign in')
  assert.match(reasonIn(page) ?? '', reason)
  assert.match(page.html, /to continue to App/)
  isConsent(await browser.submit(page, byPassword(email)))
}

suite('a sign-in through a provider that does not succeed', () => {
  const serverFor = sharedExternalServers()
  const server = (env: Record<string, string> = {}) => serverFor({ ...oauthServer, ...env })

  /** Follows the button to the provider. */
  async function atProvider(browser: Browser, page: PageResponse) {
    const sent = await browser.send('GET', linkAt(page, /\/authorize\?provider=github/))
    const url = sent.location ?? ''
    const state = new URL(url).searchParams.get('state') ?? ''
    return {
      accept: () => acceptAt(url),
      reject: (error: string) => `/callback?${new URLSearchParams({ error, state })}`,
    }
  }

  /** The address that the provider sends the browser back to. */
  async function acceptAt(provider: string): Promise<string> {
    const url = new URL(provider)
    // Unknown parameters of /authorize are passed to the provider, as in GoTrue; this one rejects them.
    for (const name of ['redirect_to', 'skip_http_redirect']) url.searchParams.delete(name)
    const back = await fetch(url, { redirect: 'manual' })
    return `/callback${new URL(back.headers.get('location') ?? '').search}`
  }

  test('returns to the same request after Cancel', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const back = await browser.open((await atProvider(browser, page)).reject('access_denied'))
    await continues(browser, back, email, /^The sign-in was cancelled/)
  })

  test('returns to the same request when the provider fails', async () => {
    const { app, fakes } = await server()
    const { email } = await signUpUser(app)
    for (const [path, response] of [
      ['/login/oauth/access_token', { status: 500, body: 'down' }],
      [
        '/login/oauth/access_token',
        { body: '{"error":"invalid_grant"}', type: 'application/json' },
      ],
      ['/api/v3/user', { status: 403, body: '{}' }],
    ] as const) {
      const { browser, page } = await atSignIn(app)
      const url = await (await atProvider(browser, page)).accept()
      fakes.github.instead.set(path, response)
      const back = await browser.open(url)
      fakes.github.instead.delete(path)
      await continues(browser, back, email, /^The provider could not complete/)
    }
    const { browser, page } = await atSignIn(app)
    const rejected = (await atProvider(browser, page)).reject('temporarily_unavailable')
    await continues(browser, await browser.open(rejected), email, /^The provider could not/)
  })

  test('leads to the consent page by the link to an address that the provider has not verified', async () => {
    const { app, fakes, mail } = await server({ AUTH_MAILER_AUTOCONFIRM: 'false' })
    const email = newAddress()
    const { browser, page } = await atSignIn(app)
    describe(fakes, 'github', unverifiedProfile(email, '5001'))
    const back = await browser.open(await (await atProvider(browser, page)).accept())
    assert.equal(titleIn(back), 'Sign in')
    assert.match(reasonIn(back) ?? '', /^The provider has not verified/)
    isConsent(await browser.open(linkIn(await nextEmail({ mail }, email))))
  })

  test('says that new accounts cannot be created', async () => {
    const { app, fakes } = await server({ AUTH_DISABLE_SIGNUP: 'true' })
    const { browser, page } = await atSignIn(app)
    describe(fakes, 'github', verifiedProfile(newAddress(), '5002'))
    const back = await browser.open(await (await atProvider(browser, page)).accept())
    assert.match(reasonIn(back) ?? '', /^New accounts cannot be created here/)
    const create = linkAt(back, /sign-in\/recover/).replace('/recover', '/create')
    const closed = await browser.open(create)
    assert.deepEqual([closed.status, titleIn(closed)], [200, 'Sign in'])
    assert.match(reasonIn(closed) ?? '', /^New accounts cannot be created here/)
    assert.match(closed.html, /to continue to App/)
  })

  test('returns to the same request with a state that has expired, was used, or belongs to another browser', async () => {
    const { app, fakes } = await server()
    const { email } = await signUpUser(app)
    const who: ProviderUser = verifiedProfile(newAddress(), '5003')
    describe(fakes, 'github', who)
    const expired = await atSignIn(app)
    const late = await (await atProvider(expired.browser, expired.page)).accept()
    await app.db
      .updateTable('flow_state')
      .set({ created_at: new Date(0) })
      .execute()
    const back = await expired.browser.open(late)
    await continues(expired.browser, back, email, /^The sign-in took too long/)

    const { browser, page } = await atSignIn(app)
    const url = await (await atProvider(browser, page)).accept()
    isConsent(await browser.open(url))
    const again = await browser.open(url)
    assert.match(reasonIn(again) ?? '', /^The sign-in took too long/)
    isConsent(await browser.open(linkAt(again, /\/oauth\/consent/)))

    const first = await atSignIn(app)
    const stolen = await (await atProvider(first.browser, first.page)).accept()
    const other = openBrowser(app)
    await continues(other, await other.open(stolen), email, /^This link works only in the browser/)
  })

  test('returns to the same request when it cannot start', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const url = linkAt(page, /\/authorize\?provider=github/).replace('=github', '=unknown')
    await continues(browser, await browser.open(url), email, /^The provider could not complete/)
  })

  test('returns to the page of linked accounts', async () => {
    const { app, fakes } = await server(accountPage)
    const { browser } = await accountUser(app)
    const linked = await browser.open('/account/linked')
    const onward = await browser.submit(linked, { provider: 'github', action: 'link' })
    const state = new URL(linkAt(onward, /state=/)).searchParams.get('state') ?? ''
    const rejected = new URLSearchParams({ error: 'access_denied', state })
    const back = await browser.open(`/callback?${rejected}`)
    assert.equal(titleIn(back), 'Linked accounts')
    assert.match(back.html, /role="alert">The sign-in was cancelled/)
    describe(fakes, 'github', verifiedProfile(newAddress(), '5004'))
    for (const [user, shown] of [
      [browser, /role="status">Your change was saved/],
      [(await accountUser(app)).browser, /role="alert">This account is already linked/],
    ] as const) {
      const page = await user.open('/account/linked')
      const leaving = await user.submit(page, { provider: 'github', action: 'link' })
      const done = await user.open(await acceptAt(linkAt(leaving, /state=/)))
      assert.equal(titleIn(done), 'Linked accounts')
      assert.match(done.html, shown)
    }
  })
})

suite('an emailed link that does not sign in', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(oauthServer)

  async function requestLink({ app, mail }: Awaited<ReturnType<typeof server>>, email: string) {
    const { browser, page } = await atSignIn(app)
    const since = mail.messages.length
    await browser.submit(page, { email, action: 'code' })
    return { browser, link: linkIn(await nextEmail({ mail }, email, since)) }
  }

  test('is not used up in another browser, which can sign in another way', async () => {
    const built = await server()
    const { email } = await signUpUser(built.app)
    const { browser, link } = await requestLink(built, email)
    const other = openBrowser(built.app)
    const elsewhere = await other.open(link)
    assert.match(reasonIn(elsewhere) ?? '', /^This link works only in the browser/)
    const prefetched = await other.send('GET', link)
    assert.match(prefetched.location ?? '', /error_code=link_opened_elsewhere/)
    await continues(other, elsewhere, email, /^This link works only in the browser/)
    isConsent(await browser.open(link))
  })

  test('leads a user who is signed in by it on when it is opened a second time', async () => {
    const built = await server()
    const { email } = await signUpUser(built.app)
    const { browser, link } = await requestLink(built, email)
    isConsent(await browser.open(link))
    const again = await browser.open(link)
    assert.match(reasonIn(again) ?? '', /^This link has expired or was already used/)
    assert.ok(again.html.includes(`Continue as ${email}`))
    isConsent(await browser.open(linkAt(again, /\/oauth\/consent/)))
  })

  test('returns to the same request after it has expired', async () => {
    const built = await server()
    const { email } = await signUpUser(built.app)
    const { browser, link } = await requestLink(built, email)
    await built.app.pool.query('delete from auth.one_time_tokens')
    const back = await browser.open(link)
    assert.doesNotMatch(back.html, /Continue as/)
    await continues(browser, back, email, /^This link has expired or was already used/)
  })

  test('returns to the recovery of the same request, which sends another one', async () => {
    const { app, mail } = await server()
    const { email } = await signUpUser(app)
    const { browser, page } = await atSignIn(app)
    const recover = await browser.open(linkAt(page, /sign-in\/recover/))
    const since = mail.messages.length
    await browser.submit(recover, { email })
    const link = linkIn(await nextEmail({ mail }, email, since))
    const elsewhere = await openBrowser(app).open(link)
    assert.equal(titleIn(elsewhere), 'Reset your password')
    assert.match(reasonIn(elsewhere) ?? '', /^This link works only in the browser/)
    await app.pool.query('delete from auth.one_time_tokens')
    const back = await browser.open(link)
    assert.equal(titleIn(back), 'Reset your password')
    assert.match(reasonIn(back) ?? '', /^This link has expired or was already used/)
    const again = mail.messages.length
    await browser.submit(back, { email })
    const choose = await browser.open(linkIn(await nextEmail({ mail }, email, again)))
    isConsent(await browser.submit(choose, { password: `new ${password}` }))
  })

  test('is loaded again by its browser without harm', async () => {
    const built = await server()
    const { email } = await signUpUser(built.app)
    const { browser, link } = await requestLink(built, email)
    const callback = (await browser.send('GET', link)).location ?? ''
    const { cookie } = browser
    const first = await browser.send('GET', callback)
    const withOldCookie = await openBrowser(built.app, { cookie }).send('GET', callback)
    for (const page of [withOldCookie, await browser.send('GET', callback)]) {
      assert.deepEqual([page.status, page.html], [first.status, first.html])
    }
    isConsent(await browser.follow(first))
  })
})
