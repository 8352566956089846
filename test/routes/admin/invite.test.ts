import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import {
  emailAfter,
  nextEmail,
  open,
  redirectParams,
} from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { adminToken, confirmedUser, newAddress } from '../../support/users.ts'

suite('POST /invite', () => {
  const servers = sharedServers()

  test('creates an unconfirmed user with the given data', async () => {
    const server = await servers()
    const email = newAddress()
    const token = await adminToken(server.app)
    const body = { email: ` ${email.toUpperCase()}`, data: { team: 'blue' } }
    const response = await call(server.app, '/invite', body, { token })
    assert.equal(response.statusCode, 200, response.body)
    const user = response.json<User>()
    assert.equal(user.email, email)
    assert.ok(user.invited_at)
    assert.equal(user.invited_at, user.confirmation_sent_at)
    assert.equal(user.email_confirmed_at, undefined)
    assert.deepEqual(user.user_metadata, { team: 'blue' })
    assert.equal(user.identities?.[0]?.identity_data?.team, undefined)
    assert.equal((await nextEmail(server, email)).mail.subject, "You've been invited")
  })

  test('returns the times of the identity of an earlier sign-up', async () => {
    const server = await servers()
    const email = newAddress()
    const token = await adminToken(server.app)
    await call(server.app, '/signup', { email, password: 'correct horse' })
    const invited = (await call(server.app, '/invite', { email }, { token })).json<User>()
    const path = `/admin/users/${invited.id}`
    const stored = (await call(server.app, path, undefined, { token })).json<User>()
    const times = ({ identities }: User) =>
      identities?.map(({ created_at, last_sign_in_at }) => ({ created_at, last_sign_in_at }))
    assert.deepEqual(times(invited), times(stored))
    assert.ok(invited.identities?.[0]?.updated_at)
  })

  test('sends a new link and invalidates the previous one', async () => {
    const server = await servers()
    const email = newAddress()
    const token = await adminToken(server.app)
    const invite = () => call(server.app, '/invite', { email }, { token })
    const first = await emailAfter(server, email, invite)
    const second = await emailAfter(server, email, invite)
    assert.equal(redirectParams(await open(server.app, first)).fragment.error_code, 'otp_expired')
    assert.equal(redirectParams(await open(server.app, second)).fragment.type, 'invite')
  })

  test('rejects existing users and invalid emails', async () => {
    const server = await servers()
    const token = await adminToken(server.app)
    const { email } = (await confirmedUser(server)).user
    const taken = await call(server.app, '/invite', { email }, { token })
    assert.deepEqual([taken.statusCode, taken.json().error_code], [422, 'email_exists'])
    for (const body of [{}, { email: 'x' }]) {
      const response = await call(server.app, '/invite', body, { token })
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [400, 'validation_failed'],
      )
    }
  })

  test('invites a user while sign-ups are disabled', async () => {
    const server = await servers({ AUTH_DISABLE_SIGNUP: 'true' })
    const email = newAddress()
    const token = await adminToken(server.app)
    const message = await emailAfter(server, email, () =>
      call(server.app, '/invite', { email }, { token }),
    )
    assert.equal(redirectParams(await open(server.app, message)).fragment.type, 'invite')
  })

  const roles: { role: string; env?: Record<string, string>; allowed: boolean }[] = [
    { role: 'service_role', allowed: true },
    { role: 'platform_admin', allowed: true },
    { role: 'supabase_admin', allowed: true },
    { role: 'authenticated', allowed: false },
    { role: 'anon', allowed: false },
    { role: 'boss', allowed: false },
    { role: 'boss', env: { AUTH_JWT_ADMIN_ROLES: 'boss' }, allowed: true },
    { role: 'service_role', env: { AUTH_JWT_ADMIN_ROLES: 'boss' }, allowed: true },
    { role: 'platform_admin', env: { AUTH_JWT_ADMIN_ROLES: 'boss' }, allowed: true },
    { role: 'supabase_admin', env: { AUTH_JWT_ADMIN_ROLES: 'boss' }, allowed: false },
  ]
  for (const { role, env = {}, allowed } of roles) {
    test(`role ${role} ${Object.values(env)}: ${allowed ? 'accepts' : 'rejects'} the request`, async () => {
      const server = await servers(env)
      const token = await adminToken(server.app, role)
      const response = await call(server.app, '/invite', { email: newAddress() }, { token })
      assert.equal(response.statusCode, allowed ? 200 : 403)
      if (!allowed) assert.equal(response.json().error_code, 'not_admin')
    })
  }

  test('rejects a request without a token', async () => {
    const { app } = await servers()
    assert.equal((await call(app, '/invite', { email: newAddress() })).statusCode, 401)
  })
})
