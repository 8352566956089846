/** Usernames at the sign-in page and at the account page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountBrowser, accountPage, doneIn, makeStale } from '../../support/account-pages.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { oauthServer } from '../../support/oauth-server.ts'
import { errorIn, openBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { password, signUpUser } from '../../support/users.ts'

const named = { ...oauthServer, ...accountPage, AUTH_USERNAMES_ENABLED: 'true' }
const newName = () => `ann.${crypto.randomUUID().slice(0, 8)}`

async function userNamed(app: App, username: string) {
  const user = await signUpUser(app)
  const { access_token: token } = user
  const set = await call(app, '/user/username', { username }, { method: 'PUT', token })
  assert.equal(set.statusCode, 200, set.body)
  return user
}

suite('usernames on the hosted pages', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(named)

  test('sign a user in by the field that also accepts addresses', async () => {
    const { app } = await server()
    const username = newName()
    const { email } = await userNamed(app, username)
    for (const typed of [username, username.toUpperCase(), email]) {
      const browser = openBrowser(app)
      const page = await browser.open('/sign-in')
      assert.match(page.html, /<label for="email">Email address or username</)
      assert.match(page.html, /<input id="email" name="email" autocomplete="username"/)
      const done = await browser.submit(page, { email: typed, password, action: 'password' })
      assert.equal(titleIn(done), 'Your account', typed)
    }
  })

  test('are not offered while disabled', async () => {
    const { app } = await serverFor({ ...oauthServer, ...accountPage })
    const { email } = await signUpUser(app)
    const page = await openBrowser(app).open('/sign-in')
    assert.match(page.html, /<label for="email">Email address</)
    const browser = await accountBrowser(app, email)
    assert.doesNotMatch((await browser.open('/account')).html, /account\/username/)
    const shown = await browser.open('/account/username')
    assert.doesNotMatch(shown.html, /<input id="username"/)
  })

  test('show the same error for a wrong password and an unknown name', async () => {
    const { app } = await server()
    const username = newName()
    await userNamed(app, username)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const attempt = async (typed: string) =>
      errorIn(await browser.submit(page, { email: typed, password: 'wrong', action: 'password' }))
    const wrong = await attempt(username)
    assert.equal(wrong, 'The email address, username or password is wrong.')
    assert.equal(await attempt(newName()), wrong)
  })

  test('require the address for an emailed code', async () => {
    const { app } = await server()
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const shown = await browser.submit(page, { email: newName(), action: 'code' })
    assert.equal(errorIn(shown), 'Enter your email address to receive a code.')
  })

  test('send the recovery email to the address of the user', async () => {
    const { app, mail } = await server()
    const username = newName()
    const { email } = await userNamed(app, username)
    const browser = openBrowser(app)
    const since = mail.messages.length
    const page = await browser.open('/sign-in/recover')
    const sent = await browser.submit(page, { email: username })
    assert.equal(titleIn(sent), 'Check your email')
    assert.ok(!sent.html.includes(email), 'the address stays hidden')
    const message = await nextEmail({ mail }, email, since)
    assert.match(linkIn(message), /\/verify\?/)
    const unknown = await browser.submit(page, { email: newName() })
    assert.equal(titleIn(unknown), 'Check your email')
  })
})

suite('username on the account page', () => {
  const serverFor = sharedServers()
  const server = () => serverFor({ ...named, AUTH_USERNAMES_CHANGE_INTERVAL: '0' })

  async function account(env: 'always' | 'rarely' = 'always') {
    const { app } = await (env === 'always' ? server() : serverFor(named))
    const user = await signUpUser(app)
    return { app, ...user, browser: await accountBrowser(app, user.email) }
  }

  test('is set and changed, and signs the user in', async () => {
    const { app, browser } = await account()
    const [first, second] = [newName(), newName()]
    const form = await browser.open('/account/username')
    const set = await browser.submit(form, { username: ` ${first} `, action: 'change' })
    assert.equal(doneIn(set), 'Your change was saved.')
    assert.ok(set.html.includes(`Current: ${first}`))
    const changed = await browser.submit(set, { username: second, action: 'change' })
    assert.ok(changed.html.includes(`Current: ${second}`))
    assert.ok((await browser.open('/account')).html.includes(second))
    const signedIn = await call(app, '/token?grant_type=password', { username: second, password })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
  })

  test('shows why a name is rejected, and keeps the typed text', async () => {
    const { app, browser } = await account()
    const taken = newName()
    await userNamed(app, taken)
    const form = await browser.open('/account/username')
    const attempt = (username: string) => browser.submit(form, { username, action: 'change' })
    assert.equal(errorIn(await attempt(taken)), 'This username cannot be used.')
    const hostile = '"><script>alert(1)</script>'
    const rejected = await attempt(hostile)
    assert.equal(rejected.status, 400)
    assert.equal(errorIn(rejected), 'This username is not allowed. Choose another one.')
    assert.doesNotMatch(rejected.html, /<script>alert/)
    assert.match(rejected.html, /value="[^"]*&lt;script&gt;alert/)
  })

  test('shows when it can be changed again', async () => {
    const { browser } = await account('rarely')
    const form = await browser.open('/account/username')
    const set = await browser.submit(form, { username: newName(), action: 'change' })
    assert.match(set.html, /You can change it again on .+ UTC\./)
    assert.doesNotMatch(set.html, /<input id="username"/)
  })

  test('requires a recent confirmation', async () => {
    const { app, user, browser } = await account()
    await makeStale(app, user.id)
    assert.equal(titleIn(await browser.open('/account/username')), 'Confirm that it is you')
  })
})
