/** How a browser gets a token of the console: by the cookie of the sign-in pages, and by a one-time link. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { createAdminLink } from '../../../modules/admins/index.ts'
import { firstAdminLink } from '../../../server/first-admin-link.ts'
import { asAdmin } from '../../support/admin.ts'
import { createAdmin, removeAdmins, withConsole } from '../../support/admins.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { confirmAddress, newAddress, password, signUpUser } from '../../support/users.ts'

suite('console session', () => {
  const serverFor = sharedServers()
  const server = async () => serverFor(withConsole)

  async function signedInAdmin(app: App, role: 'owner' | 'support' = 'owner') {
    const admin = await createAdmin(app, role)
    const browser = consoleBrowser(app)
    await browser.signIn(admin.email)
    return { admin, browser }
  }

  test('returns the sign-in address when signed out', async () => {
    const { app } = await server()
    const state = await consoleBrowser(app).state()
    assert.deepEqual([state.user, state.role, state.required_factor], [null, null, null])
    assert.equal(state.sign_in_url, 'http://auth.example/sign-in?next=%2Fconsole')
  })

  test('exchanges the cookie of the sign-in pages for a token of five minutes', async () => {
    const { app } = await server()
    const { admin, browser } = await signedInAdmin(app, 'support')
    const state = await browser.state()
    assert.deepEqual(
      [state.user?.email, state.role, state.required_factor],
      [admin.email, 'support', null],
    )
    const response = await browser.exchange()
    assert.equal(response.statusCode, 200, response.body)
    const { access_token: token, expires_in: seconds, role } = response.json()
    assert.equal(role, 'support')
    assert.ok(seconds > 290 && seconds <= 300, `${seconds}`)
    assert.equal(decodeJwt(token).sub, admin.id)
    assert.equal((await call(app, '/admin/users', undefined, { token })).statusCode, 200)
  })

  test('rejects an exchange without the token of the page and one from another site', async () => {
    const { app } = await server()
    const { browser } = await signedInAdmin(app)
    const foreign = [400, 'validation_failed']
    assert.deepEqual(statusAndCode(await browser.exchange({ 'x-form-token': '' })), foreign)
    assert.deepEqual(
      statusAndCode(await browser.exchange({ 'x-form-token': 'x'.repeat(43) })),
      foreign,
    )
    const other = await browser.exchange({ origin: 'https://other.example' })
    assert.deepEqual(statusAndCode(other), foreign)
    const site = await browser.exchange({ 'sec-fetch-site': 'same-site' })
    assert.deepEqual(statusAndCode(site), foreign)
    const stolen = consoleBrowser(app)
    const { form_token } = await stolen.state()
    assert.deepEqual(statusAndCode(await browser.exchange({ 'x-form-token': form_token })), foreign)
  })

  test('issues no token to a user without an admin role or after the sign-out', async () => {
    const { app } = await server()
    const { email } = await signUpUser(app)
    const browser = consoleBrowser(app)
    await browser.signIn(email)
    const state = await browser.state()
    assert.deepEqual([state.user?.email, state.role], [email, null])
    assert.deepEqual(statusAndCode(await browser.exchange()), [403, 'not_admin'])
    assert.equal((await browser.signOut()).statusCode, 204)
    assert.equal((await browser.state()).user, null)
    assert.deepEqual(statusAndCode(await browser.exchange()), [403, 'session_not_found'])
  })

  test('rejects the token after the page session or the admin role ended', async () => {
    const { app } = await server()
    const { admin, browser } = await signedInAdmin(app)
    const { access_token: token } = (await browser.exchange()).json()
    const send = () => call(app, '/admin/users', undefined, { token })
    assert.equal((await send()).statusCode, 200)
    await browser.signOut()
    assert.deepEqual(statusAndCode(await send()), [403, 'session_not_found'])
    assert.ok(admin.id)
  })

  test('returns the required second factor while AUTH_CONSOLE_REQUIRE_MFA is set', async () => {
    const { app } = await serverFor({ ...withConsole, AUTH_CONSOLE_REQUIRE_MFA: 'true' })
    const { browser } = await signedInAdmin(app)
    const state = await browser.state()
    assert.deepEqual([state.role, state.required_factor], ['owner', 'enrollment'])
    assert.deepEqual(statusAndCode(await browser.exchange()), [403, 'mfa_enrollment_required'])
  })
})

suite('one-time link for an admin', () => {
  const serverFor = sharedServers()
  const server = async () => serverFor(withConsole)
  const tokenIn = (link = '') => link.split('#first-admin=')[1] ?? ''

  async function firstLink() {
    const { app, config } = await server()
    await removeAdmins(app)
    const link = await firstAdminLink(config)
    assert.match(String(link), /^http:\/\/auth\.example\/console#first-admin=[\w-]{43}$/)
    return { app, config, token: tokenIn(link) }
  }

  test('creates and signs in the first owner, and is valid once', async () => {
    const { app, config, token } = await firstLink()
    const browser = consoleBrowser(app)
    const email = newAddress()
    assert.deepEqual((await browser.checkLink(token)).json(), { email: null, role: 'owner' })
    const made = await browser.redeem({ token, email, password })
    assert.equal(made.statusCode, 200, made.body)
    assert.deepEqual([made.json().user.email, made.json().role], [email, 'owner'])
    const exchanged = await browser.exchange()
    assert.equal(exchanged.statusCode, 200, exchanged.body)
    assert.equal(exchanged.json().role, 'owner')
    const again = await consoleBrowser(app).redeem({ token, email: newAddress(), password })
    assert.deepEqual(statusAndCode(again), [403, 'first_admin_link_invalid'])
    assert.equal(await firstAdminLink(config), undefined)
  })

  test('makes the signed-in user the owner', async () => {
    const { app, token } = await firstLink()
    const { user, email } = await signUpUser(app)
    await confirmAddress(app, user.id)
    const browser = consoleBrowser(app)
    await browser.signIn(email)
    const made = await browser.redeem({ token })
    assert.deepEqual(made.json().user.id, user.id, made.body)
    assert.equal((await browser.exchange()).statusCode, 200)
  })

  test('lets one of two concurrent requests create the owner and leaves no second account', async () => {
    const { app, token } = await firstLink()
    const emails = [newAddress(), newAddress()]
    const responses = await Promise.all(
      emails.map((email) => consoleBrowser(app).redeem({ token, email, password })),
    )
    const statuses = responses.map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses.toSorted(), [200, 403])
    const users = await app.db
      .selectFrom('users')
      .select('email')
      .where('email', 'in', emails)
      .execute()
    assert.equal(users.length, 1)
  })

  test('is rejected once another admin exists', async () => {
    const { app, token } = await firstLink()
    await createAdmin(app, 'support')
    const made = await consoleBrowser(app).redeem({ token, email: newAddress(), password })
    assert.deepEqual(statusAndCode(made), [403, 'first_admin_link_invalid'])
  })

  test('expires after a day, and its token is stored as a hash', async () => {
    const { app, token } = await firstLink()
    const [row] = await app.db.selectFrom('postern_admin_links').selectAll().execute()
    assert.ok(row && !JSON.stringify(row).includes(token))
    await app.db
      .updateTable('postern_admin_links')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute()
    const made = await consoleBrowser(app).redeem({ token, email: newAddress(), password })
    assert.deepEqual(statusAndCode(made), [403, 'first_admin_link_invalid'])
  })

  test('rejects the address of another user, a weak password and a form of another site', async () => {
    const { app, token } = await firstLink()
    const { email, user } = await signUpUser(app)
    await confirmAddress(app, user.id)
    const browser = consoleBrowser(app)
    const taken = await browser.redeem({ token, email, password: `${password} 2` })
    assert.deepEqual(statusAndCode(taken), [422, 'email_exists'])
    const weak = await browser.redeem({ token, email: newAddress(), password: '123' })
    assert.deepEqual(statusAndCode(weak), [422, 'weak_password'])
    const unknown = await browser.redeem({ token })
    assert.deepEqual(statusAndCode(unknown), [400, 'validation_failed'])
    const foreign = await call(app, '/console/first_admin', {
      token,
      email: newAddress(),
      password,
    })
    assert.deepEqual(statusAndCode(foreign), [400, 'validation_failed'])
    const made = await browser.redeem({ token, email: newAddress(), password })
    assert.equal(made.statusCode, 200, made.body)
  })

  test('with an email is valid for that email only, also when admins exist', async () => {
    const { app, config } = await server()
    await createAdmin(app, 'owner')
    const email = newAddress()
    const link = { email, role: 'support' as const }
    const token = tokenIn(
      (await createAdminLink({ config }, app.db, { ...link, createdBy: null }, new Date())).link,
    )
    const { email: other } = await signUpUser(app)
    const attacker = consoleBrowser(app)
    await attacker.signIn(other)
    const taken = await attacker.redeem({ token })
    assert.deepEqual(statusAndCode(taken), [403, 'first_admin_link_invalid'])
    const browser = consoleBrowser(app)
    assert.deepEqual((await browser.checkLink(token)).json(), link)
    const made = await browser.redeem({ token, email: newAddress(), password })
    assert.deepEqual([made.json().user.email, made.json().role], [email, 'support'])
  })

  test('is not contained in lists for admins', async () => {
    const { app, token } = await firstLink()
    for (const url of ['/admin/audit', '/admin/admins', '/admin/events']) {
      const response = await asAdmin(app, 'GET', url)
      assert.ok(!response.body.includes(token), url)
    }
  })
})
