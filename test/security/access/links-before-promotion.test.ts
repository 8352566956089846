/** A role on the server ends every link and code of the account: an operator makes links for any user without a role. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { adminCreatedUser, newAddress, password, signedIn } from '../../support/users.ts'

interface User {
  id: string
  email: string
}

/** Both give a role that calls the admin API. */
const promotions: Record<string, (app: App, user: User) => ReturnType<typeof asAdmin>> = {
  'the table of admins': (app, { email }) =>
    asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' }),
  'the role of the row': (app, { id }) =>
    asAdmin(app, 'PUT', `/admin/users/${id}`, { role: 'boss' }),
}

suite('a link that an operator made before the promotion', () => {
  const serverFor = sharedServers()
  const env = {
    ...withConsole,
    AUTH_JWT_ADMIN_ROLES: 'service_role,boss',
    AUTH_MAILER_AUTOCONFIRM: 'false',
  }

  for (const [where, promote] of Object.entries(promotions)) {
    for (const type of ['magiclink', 'recovery'] as const) {
      test(`signs in no longer: ${type}, a role of ${where}`, async () => {
        const { app } = await serverFor(env)
        const { user, link } = await linkOfOperator(app, { type })
        const promoted = await promote(app, user)
        assert.ok(promoted.statusCode < 300, promoted.body)
        const opened = await verify(app, { type, token_hash: link.hashed_token })
        assert.deepEqual(statusAndCode(opened), [403, 'otp_expired'])
        const entered = await verify(app, { type, email: user.email, token: link.email_otp })
        assert.deepEqual(statusAndCode(entered), [403, 'otp_expired'])
      })
    }

    test(`changes no address: a role of ${where}`, async () => {
      const { app } = await serverFor(env)
      const new_email = newAddress('operator')
      const { user, link, generate } = await linkOfOperator(app, {
        type: 'email_change_new',
        new_email,
      })
      const body = { type: 'email_change_current', email: user.email, new_email }
      const current = await generate(body)
      await promote(app, user)
      for (const { hashed_token: token_hash } of [current, link]) {
        const opened = await verify(app, { type: 'email_change', token_hash })
        assert.deepEqual(statusAndCode(opened), [403, 'otp_expired'])
      }
      const stored = (await asAdmin(app, 'GET', `/admin/users/${user.id}`)).json()
      assert.deepEqual([stored.email, stored.new_email ?? ''], [user.email, ''])
    })
  }
})

interface Link {
  hashed_token: string
  email_otp: string
}

/** A user with a confirmed address, and a link that an operator made for them. */
async function linkOfOperator(app: App, body: object) {
  const [operator, user] = [await confirmed(app), await confirmed(app)]
  const added = { user_id: operator.id, role: 'operator' }
  assert.equal((await asAdmin(app, 'POST', '/admin/admins', added)).statusCode, 201)
  const { access_token: token } = await signedIn(app, operator.email)
  const generate = async (body: object): Promise<Link> => {
    const made = await call(app, '/admin/generate_link', body, { token })
    assert.equal(made.statusCode, 200, made.body)
    return made.json()
  }
  return { generate, link: await generate({ ...body, email: user.email }), user }
}

async function confirmed(app: App): Promise<User> {
  const email = newAddress()
  const { id } = await adminCreatedUser(app, { email, password, email_confirm: true })
  return { id, email }
}
