/**
 * An operator gets no role of an owner by preparing the account of a later owner, whose credentials the operator knows.
 * The holder of the address gets a link, which removes all that was set before.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { hashSync } from '@node-rs/bcrypt'

import { asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import type { App, Built } from '../../support/server.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signedIn,
  signIn,
  unconfirmedUser,
} from '../../support/users.ts'

const chosen = 'a password of the holder'

type Server = Pick<Built, 'app' | 'mail'>
interface Answer {
  id: string
  hashed_token?: string
  verification_type?: string
}
type Send = (method: 'POST' | 'PUT', url: string, body: object) => Promise<Answer>

/** What an operator does for an address of which no account has been proven, with the default password. */
const preparations: Record<string, (send: Send, email: string, server: Server) => Promise<void>> = {
  async 'creates the account with a confirmed address'(send, email) {
    await send('POST', '/admin/users', { email, password, email_confirm: true })
  },
  async 'creates the account and verifies the address by a link of their own'(
    send,
    email,
    { app },
  ) {
    await send('POST', '/admin/users', { email, password })
    await openOwnLink(app, send, { type: 'signup', email, password })
  },
  async 'signs the address up by a link of their own'(send, email, { app }) {
    await openOwnLink(app, send, { type: 'signup', email, password })
  },
  async 'confirms the address of a sign-up'(send, email, server) {
    const { user } = await unconfirmedUser(server, email)
    await send('PUT', `/admin/users/${user.id}`, { email_confirm: true })
  },
  async 'gives an account the address'(send, email) {
    const other = { email: newAddress(), password, email_confirm: true }
    const { id } = await send('POST', '/admin/users', other)
    await send('PUT', `/admin/users/${id}`, { email, email_confirm: true })
  },
  async 'gives an account the address, and verifies it by a link of their own'(
    send,
    email,
    { app },
  ) {
    const { id } = await adminCreatedUser(app, {
      email: newAddress(),
      password,
      email_confirm: true,
    })
    await send('PUT', `/admin/users/${id}`, { email })
    await openOwnLink(app, send, { type: 'magiclink', email })
  },
  async 'imports the account'(send, email) {
    const row = {
      email,
      email_confirm: true,
      password_hash: hashSync(password, 4),
      phone: newNumber(),
    }
    await send('POST', '/admin/users/import', row)
  },
}

suite('an account that an operator prepared', () => {
  const serverFor = sharedServers()
  const env = {
    ...withConsole,
    AUTH_JWT_ADMIN_ROLES: 'service_role,boss',
    AUTH_MAILER_AUTOCONFIRM: 'false',
  }

  for (const [what, prepare] of Object.entries(preparations)) {
    test(`gets a link for the holder instead of a role: the operator ${what}`, async () => {
      const server = await serverFor(env)
      const { app } = server
      const email = newAddress()
      await prepare(await operator(app), email, server)
      const { user } = await signedIn(app, email)
      const byRow = await asAdmin(app, 'PUT', `/admin/users/${user.id}`, { role: 'boss' })
      assert.deepEqual(statusAndCode(byRow), [422, 'email_not_confirmed'])
      const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
      assert.equal(made.statusCode, 202, made.body)
      const token = String(made.json().link).split('#first-admin=')[1] ?? ''
      const redeemed = await consoleBrowser(app).redeem({ token, password: chosen })
      assert.equal(redeemed.statusCode, 200, redeemed.body)
      const byOperator = await signIn(app, { email, password })
      assert.deepEqual(statusAndCode(byOperator), [400, 'invalid_credentials'])
      assert.equal((await signIn(app, { email, password: chosen })).statusCode, 200)
    })
  }

  test('may get a role after an owner has confirmed its address', async () => {
    const { app } = await serverFor(env)
    const email = newAddress()
    const send = await operator(app)
    const { id } = await send('POST', '/admin/users', { email, password, email_confirm: true })
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { email_confirm: true })
    const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
    assert.equal(made.statusCode, 201, made.body)
  })

  test('is none whose holder proved the address before the operator changed it', async () => {
    const server = await serverFor(env)
    const { app } = server
    const { user } = await confirmedUser(server)
    const send = await operator(app)
    await send('PUT', `/admin/users/${user.id}`, { password: 'reset for the user', data: {} })
    const { email } = user
    const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'support' })
    assert.equal(made.statusCode, 201, made.body)
  })
})

/** Requests of an operator that must succeed. */
async function operator(app: App): Promise<Send> {
  const email = newAddress('operator')
  const { id } = await adminCreatedUser(app, { email, password, email_confirm: true })
  const added = await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'operator' })
  assert.equal(added.statusCode, 201, added.body)
  const { access_token: token } = await signedIn(app, email)
  return async (method, url, payload) => {
    const type = url.endsWith('/import') ? 'application/x-ndjson' : 'application/json'
    const headers = { 'content-type': type }
    const sent = await call(app, url, payload, { method, token, headers })
    assert.equal(sent.statusCode, 200, sent.body)
    return sent.json()
  }
}

async function openOwnLink(app: App, send: Send, body: object) {
  const link = await send('POST', '/admin/generate_link', body)
  const { hashed_token: token_hash, verification_type: type } = link
  assert.equal((await verify(app, { type, token_hash })).statusCode, 200)
}
