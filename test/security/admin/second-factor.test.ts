/** A stolen password of an admin gives no access to the admin API while the admin has a second factor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import { addTotp, send, stepUp } from '../../support/factors/factors.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { newAddress, password, signedIn } from '../../support/users.ts'

const rejected = [403, 'insufficient_aal']

suite('admins with a second factor', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(withConsole)).app

  test('are rejected until it is verified, also at their own factors', async () => {
    const app = await server()
    const { id, session, email } = await createAdmin(app, 'owner')
    const factor = await addTotp(app, session)
    const verified = await stepUp(app, session, factor)
    const byPassword = await signedIn(app, email)
    for (const [method, url] of [
      ['GET', '/admin/users'],
      ['DELETE', `/admin/users/${id}/factors/${factor.id}`],
      ['POST', `/admin/users/${id}/impersonate`],
    ] as const) {
      assert.deepEqual(statusAndCode(await send(app, method, url, byPassword)), rejected, url)
    }
    assert.equal((await send(app, 'GET', '/admin/users', verified)).statusCode, 200)
  })

  test('get no token for the console until it is verified', async () => {
    const app = await server()
    const { session, email } = await createAdmin(app, 'support')
    await stepUp(app, session, await addTotp(app, session))
    const browser = consoleBrowser(app)
    await browser.signIn(email)
    assert.equal((await browser.state()).required_factor, 'verification')
    assert.deepEqual(statusAndCode(await browser.exchange()), rejected)
  })

  test('are rejected until it is verified with a role of AUTH_JWT_ADMIN_ROLES', async () => {
    const app = await server()
    const user = { email: newAddress(), password, email_confirm: true, role: 'service_role' }
    await adminCall(app, 'POST', '/admin/users', user)
    const session = await signedIn(app, user.email)
    assert.equal((await send(app, 'GET', '/admin/users', session)).statusCode, 200)
    const verified = await stepUp(app, session, await addTotp(app, session))
    const byPassword = await signedIn(app, user.email)
    assert.deepEqual(statusAndCode(await send(app, 'GET', '/admin/users', byPassword)), rejected)
    assert.equal((await send(app, 'GET', '/admin/users', verified)).statusCode, 200)
  })
})
