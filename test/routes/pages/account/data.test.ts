/** Devices, connected apps, passkeys, data and deletion at the account page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  accountBrowser,
  accountPage,
  accountUser,
  doneIn,
  makeStale,
} from '../../../support/account-pages.ts'
import { passkeysOn } from '../../../support/factors/passkeys.ts'
import { createClient, oauthServer, signInClient } from '../../../support/oauth-server.ts'
import { errorIn, openBrowser, titleIn } from '../../../support/page-browser.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { getUser } from '../../../support/requests.ts'
import { password, signedIn, signIn } from '../../../support/users.ts'

const withClients = { ...oauthServer, ...accountPage, AUTH_USER_SELF_DELETE_ENABLED: 'true' }

suite('account page, data of the user', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(withClients)

  test('lists devices, revokes one and revokes all others', async () => {
    const { app } = await server()
    const { browser, email } = await accountUser(app)
    const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko Firefox/140.0' }
    const laptop = await signedIn(app, email, agent)
    const list = await browser.open('/account/devices')
    assert.match(list.html, /Firefox, Linux/)
    assert.match(list.html, /This device/)
    const revoked = await browser.submit(list, { action: 'revoke' })
    assert.equal(doneIn(revoked), 'Your change was saved.')
    assert.equal((await getUser(app, laptop)).statusCode, 403)
    const other = await accountBrowser(app, email)
    await browser.submit(await browser.open('/account/devices'), { action: 'revoke_others' })
    assert.equal(titleIn(await other.open('/account')), 'Sign in')
    assert.equal(titleIn(await browser.open('/account')), 'Your account')
  })

  test('lists connected apps with their permissions and removes their access', async () => {
    const { app } = await server()
    const { browser, ...user } = await accountUser(app)
    const client = await createClient(app, { client_name: 'Calendar' })
    await signInClient(app, client, user, { scope: 'openid email' })
    const list = await browser.open('/account/apps')
    assert.match(list.html, /Calendar/)
    assert.match(list.html, /see your email address/)
    const devices = await browser.open('/account/devices')
    assert.equal(devices.html.match(/<li class="row">/g)?.length, 2)
    const headers = { authorization: `Bearer ${user.access_token}` }
    const { sessions } = (await app.inject({ url: '/sessions', headers })).json()
    const clients = sessions.map((session: { client_id?: string }) => session.client_id)
    assert.deepEqual(clients.filter(Boolean), [client.client_id])
    const removed = await browser.submit(list, { action: 'revoke' })
    assert.match(removed.html, /No apps are connected/)
  })

  test('exports the data of the user as a file', async () => {
    const { app } = await server()
    const { browser, email, user } = await accountUser(app)
    const file = await browser.submit(await browser.open('/account/data'), { action: 'download' })
    assert.match(String(file.headers['content-disposition']), /^attachment; filename="account-/)
    assert.equal(file.headers['cache-control'], 'no-store')
    const exported = JSON.parse(file.html)
    assert.equal(exported.user.email, email)
    assert.equal(exported.sessions.length, 2)
    const actions = exported.activity.map(({ action }: { action: string }) => action)
    assert.ok(actions.includes('login'), String(actions))
    assert.ok(!file.html.includes('encrypted_password'))
    assert.equal(exported.user.id, user.id)
  })

  test('deletes the account after a typed confirmation', async () => {
    const { app } = await server()
    const { browser, email } = await accountUser(app)
    const form = await browser.open('/account/delete')
    const wrong = await browser.submit(form, { account: 'x', action: 'delete' })
    assert.equal(errorIn(wrong), 'Your entry does not match.')
    const gone = await browser.submit(wrong, { account: email.toUpperCase(), action: 'delete' })
    assert.equal(titleIn(gone), 'Your account was deleted')
    assert.equal((await signIn(app, { email })).statusCode, 400)
    assert.equal(titleIn(await browser.open('/account')), 'Sign in')
  })

  test('deletes the account of an old session only after a confirmation', async () => {
    const { app } = await server()
    const { browser, email, user } = await accountUser(app)
    await makeStale(app, user.id)
    const entry = { account: email, action: 'delete' }
    const asked = await browser.submit(await browser.open('/account/delete'), entry)
    assert.equal(titleIn(asked), 'Confirm that it is you')
    const form = await browser.submit(asked, { password, action: 'password' })
    assert.equal(titleIn(await browser.submit(form, entry)), 'Your account was deleted')
  })

  test('offers deletion only while it is enabled', async () => {
    const { app } = await serverFor(accountPage)
    const { browser } = await accountUser(app)
    assert.doesNotMatch((await browser.open('/account/data')).html, /Delete your account/)
    assert.equal((await browser.open('/account/delete')).status, 404)
  })

  test('lists passkeys and states that adding one requires JavaScript', async () => {
    const { app } = await serverFor({ ...accountPage, ...passkeysOn })
    const { browser } = await accountUser(app)
    const page = await browser.open('/account/passkeys')
    assert.match(page.html, /You have no passkeys/)
    assert.match(page.html, /data-without-script>This needs JavaScript/)
    const rejected = await browser.submit(page, { action: 'register' })
    assert.equal(errorIn(rejected), 'Check your entry.')
  })

  test('signs the user out', async () => {
    const { app } = await server()
    const { browser } = await accountUser(app)
    const out = await browser.submit(await browser.open('/account'), { action: 'sign_out' })
    assert.equal(titleIn(out), 'You are signed out')
    assert.equal(titleIn(await browser.open('/account')), 'Sign in')
  })

  test('is served in the language of the browser', async () => {
    const { app } = await server()
    const { email } = await accountUser(app)
    const browser = openBrowser(app, { 'accept-language': 'ar' })
    const page = await browser.open('/account')
    const shown = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(titleIn(shown), 'حسابك')
    assert.match(shown.html, /<html lang="ar" dir="rtl">/)
  })
})
