/** What an admin has made ends with the role: links to accounts of users, and links to a role on the server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { createAdmin, removeAdmins, withConsole } from '../../support/admins.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress, password, signUpUser } from '../../support/users.ts'

type Operator = Awaited<ReturnType<typeof createAdmin>>

const ends: Record<string, (app: App, operator: Operator) => ReturnType<typeof asAdmin>> = {
  'the role was removed': (app, { id }) => asAdmin(app, 'DELETE', `/admin/admins/${id}`),
  'the role is support': (app, { id }) =>
    asAdmin(app, 'PUT', `/admin/admins/${id}`, { role: 'support' }),
  'the admin has signed out everywhere': (app, { session }) =>
    call(app, '/logout', {}, { token: session.access_token }),
  'the admin was banned': (app, { id }) =>
    asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' }),
  'the account of the admin was deleted': (app, { id }) =>
    asAdmin(app, 'DELETE', `/admin/users/${id}`),
}

suite('links of a former admin', () => {
  const serverFor = sharedServers()

  for (const [why, end] of Object.entries(ends)) {
    test(`open no account: ${why}`, async () => {
      const { app } = await serverFor(withConsole)
      const [operator, other] = [
        await createAdmin(app, 'operator'),
        await createAdmin(app, 'owner'),
      ]
      const make = async ({ request }: Operator) => {
        const { email } = await signUpUser(app)
        const body = { type: 'magiclink', email }
        return (await request('POST', '/admin/generate_link', body)).json()
      }
      const [made, kept] = [await make(operator), await make(other)]
      const ended = await end(app, operator)
      assert.ok(ended.statusCode < 300, ended.body)
      const open = ({
        hashed_token: token_hash,
        verification_type: type,
      }: Record<string, string>) => verify(app, { type, token_hash })
      assert.deepEqual(statusAndCode(await open(made)), [403, 'otp_expired'])
      assert.equal((await open(kept)).statusCode, 200)
    })
  }

  test('of which there were two give no role again after its removal', async () => {
    const { app } = await serverFor(withConsole)
    await removeAdmins(app)
    await createAdmin(app, 'owner')
    const email = newAddress()
    const invite = async () => {
      const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
      return String(made.json().link).split('#first-admin=')[1] ?? ''
    }
    const [unused, token] = [await invite(), await invite()]
    const browser = consoleBrowser(app)
    const redeemed = await browser.redeem({ token, password })
    const { id } = redeemed.json().user
    assert.equal((await asAdmin(app, 'DELETE', `/admin/admins/${id}`)).statusCode, 204)
    const again = await browser.redeem({ token: unused })
    assert.deepEqual(statusAndCode(again), [403, 'first_admin_link_invalid'])
  })
})
