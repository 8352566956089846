/** A role on the server is given to the holder of an address, and not to another user who signed up with it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import { organizationsOn } from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import { newClient, newOrganization, scimOn } from '../../support/scim/clients.ts'
import {
  adminCreatedUser,
  adminToken,
  confirmAddress,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
  signUp,
  signUpUser,
  unconfirmedUser,
} from '../../support/users.ts'

const chosen = 'a password of the holder'

suite('promotion to admin', () => {
  const serverFor = sharedServers()

  for (const [how, name] of [
    ['email', 'by address'],
    ['user_id', 'by id'],
  ] as const) {
    test(`${name} of an autoconfirmed account gives a link, which removes all that was set before`, async () => {
      const { app } = await serverFor(withConsole)
      const other = await signUpUser(app)
      const body = { role: 'owner', [how]: how === 'email' ? other.email : other.user.id }
      const made = await asAdmin(app, 'POST', '/admin/admins', body)
      assert.equal(made.statusCode, 202, made.body)
      const me = await call(app, '/admin/me', undefined, { token: other.access_token })
      assert.deepEqual(statusAndCode(me), [403, 'not_admin'])

      const token = String(made.json().link).split('#first-admin=')[1] ?? ''
      const redeemed = await consoleBrowser(app).redeem({ token, password: chosen })
      assert.equal(redeemed.statusCode, 200, redeemed.body)
      assert.equal(redeemed.json().user.id, other.user.id)
      const old = await call(app, '/user', undefined, { token: other.access_token })
      assert.deepEqual(statusAndCode(old), [403, 'session_not_found'])
      const { email } = other
      const byOther = await signIn(app, { email, password })
      assert.deepEqual(statusAndCode(byOther), [400, 'invalid_credentials'])
      const holder = await signIn(app, { email, password: chosen })
      const { access_token } = holder.json()
      const owner = await call(app, '/admin/me', undefined, { token: access_token })
      assert.equal(owner.json().role, 'owner', owner.body)
    })
  }

  test('of an unconfirmed account gives a link, and the confirmation of the other user fails', async () => {
    const env = { ...withConsole, AUTH_MAILER_AUTOCONFIRM: 'false' }
    const server = await serverFor(env)
    const { app } = server
    const email = newAddress()
    await unconfirmedUser(server, email)
    const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
    assert.equal(made.statusCode, 202, made.body)
    const token = String(made.json().link).split('#first-admin=')[1] ?? ''
    const redeemed = await consoleBrowser(app).redeem({ token, password: chosen })
    assert.equal(redeemed.statusCode, 200, redeemed.body)
    assert.deepEqual(statusAndCode(await signIn(app, { email, password })), [
      400,
      'invalid_credentials',
    ])
  })

  test('of an account with neither a confirmed address nor a number is refused', async () => {
    const { app } = await serverFor(withConsole)
    const phone = '15550009999'
    const { id } = (await asAdmin(app, 'POST', '/admin/users', { phone })).json()
    const refused = await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'owner' })
    assert.deepEqual(statusAndCode(refused), [422, 'email_not_confirmed'])
  })

  test('by a link ends with the global sign-out of the admin who made it', async () => {
    const { app } = await serverFor(withConsole)
    const { session: owner } = await createAdmin(app, 'owner')
    const body = { email: newAddress(), role: 'owner' }
    const made = await call(app, '/admin/admins', body, { token: owner.access_token })
    assert.equal(made.statusCode, 202, made.body)
    await call(app, '/logout', {}, { token: owner.access_token })
    const token = String(made.json().link).split('#first-admin=')[1] ?? ''
    const redeemed = await consoleBrowser(app).redeem({ token, password: chosen })
    assert.deepEqual(statusAndCode(redeemed), [403, 'first_admin_link_invalid'])
  })

  test('ends the sessions from before, which may be those of a tenant', async () => {
    const { app } = await serverFor({ ...withConsole, ...organizationsOn, ...samlOn, ...scimOn })
    const domain = `${crypto.randomUUID()}.test`
    const organization = await newOrganization(app, domain)
    const { idp, id: sso_provider_id } = await addIdp(app)
    const client = await newClient(app, { organization_id: organization, sso_provider_id })
    const email = `ann@${domain}`
    const { id } = await adminCreatedUser(app, { email, password, email_confirm: true })
    const provisioned = await client.send('POST', '/Users', {
      userName: 'ann',
      emails: [{ value: email }],
    })
    assert.equal(provisioned.statusCode, 201, provisioned.body)
    const assertUser = async () => {
      const attributes = { mail: [email] }
      const response = signedResponse({ idp, nameId: 'ann', attributes })
      const { query, fragment } = await post(app, response)
      const { access_token = '', refresh_token = '' } = fragment
      return { code: { ...query, ...fragment }.error_code, access_token, refresh_token }
    }
    const byTenant = await assertUser()
    assert.ok(byTenant.access_token)
    const byPassword = await signedIn(app, email)
    const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
    assert.equal(made.statusCode, 201, made.body)
    for (const { access_token, refresh_token } of [byTenant, byPassword]) {
      const me = await call(app, '/admin/me', undefined, { token: access_token })
      assert.equal(me.statusCode, 403)
      assert.equal((await refresh(app, refresh_token)).statusCode, 400)
    }
    assert.equal((await assertUser()).code, 'provider_not_accepted')
    const { access_token } = await signedIn(app, email)
    const me = await call(app, '/admin/me', undefined, { token: access_token })
    assert.deepEqual([me.json().role, me.json().user.id], ['owner', id])
  })

  const asBoss = { ...withConsole, AUTH_JWT_ADMIN_ROLES: 'service_role,boss' }

  test('by the role of the row needs an address that its holder has confirmed', async () => {
    const { app } = await serverFor(asBoss)
    const other = await signUpUser(app)
    const url = `/admin/users/${other.user.id}`
    for (const change of [{}, { email: newAddress() }, { email_confirm: true }]) {
      const refused = await asAdmin(app, 'PUT', url, { role: 'boss', ...change })
      assert.deepEqual(statusAndCode(refused), [422, 'email_not_confirmed'])
    }
    const { id } = await adminCreatedUser(app, { email: newAddress() })
    const promote = (more: object) =>
      asAdmin(app, 'PUT', `/admin/users/${id}`, { role: 'boss', ...more })
    assert.deepEqual(statusAndCode(await promote({})), [422, 'email_not_confirmed'])
    assert.equal((await promote({ email_confirm: true })).statusCode, 200)
    // The confirmation of an earlier address says nothing about a new one.
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { role: 'authenticated' })
    assert.deepEqual(statusAndCode(await promote({ email: newAddress() })), [
      422,
      'email_not_confirmed',
    ])
  })

  test('of a new user by the role of the row needs a confirmed address', async () => {
    const { app } = await serverFor(asBoss)
    const create = (more: object) => asAdmin(app, 'POST', '/admin/users', { role: 'boss', ...more })
    const email = newAddress()
    assert.deepEqual(statusAndCode(await create({ email, password })), [422, 'email_not_confirmed'])
    const signedUp = await signUp(app, { email })
    assert.notEqual(signedUp.json().user.role, 'boss')
    const confirmed = { email: newAddress(), email_confirm: true }
    assert.equal((await create(confirmed)).statusCode, 200)
    const holder = { phone: newNumber(), phone_confirm: true }
    assert.equal((await create(holder)).statusCode, 200)
  })

  test('by an import is refused for each row, which names the way', async () => {
    const { app } = await serverFor(asBoss)
    const rows = [
      { email: newAddress(), email_confirm: true, role: 'boss' },
      { email: newAddress(), email_confirm: true },
    ]
    const imported = await app.inject({
      method: 'POST',
      url: '/admin/users/import',
      payload: rows.map((row) => JSON.stringify(row)).join('\n'),
      headers: {
        authorization: `Bearer ${await adminToken(app)}`,
        'content-type': 'application/x-ndjson',
      },
    })
    const { accepted, rejected } = imported.json()
    assert.deepEqual([accepted, rejected.length], [1, 1])
    assert.match(rejected[0].reason, /PUT \/admin\/users/)
  })

  test('by a link needs a confirmed address of the user who is signed in', async () => {
    const { app } = await serverFor({ ...withConsole, AUTH_PAGES_ENABLED: 'true' })
    const other = await signUpUser(app)
    const body = { email: other.email, role: 'owner' }
    const made = await asAdmin(app, 'POST', '/admin/admins', body)
    const token = String(made.json().link).split('#first-admin=')[1] ?? ''
    const browser = consoleBrowser(app)
    await browser.signIn(other.email)
    const refused = await browser.redeem({ token })
    assert.deepEqual(statusAndCode(refused), [422, 'email_not_confirmed'])
    await confirmAddress(app, other.user.id)
    const before = await signedIn(app, other.email)
    const redeemed = await browser.redeem({ token })
    assert.equal(redeemed.statusCode, 200, redeemed.body)
    // The session of the browser stays, and no other one.
    assert.equal((await browser.state()).user?.id, other.user.id)
    const old = await call(app, '/user', undefined, { token: before.access_token })
    assert.deepEqual(statusAndCode(old), [403, 'session_not_found'])
  })
})
