import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../schemas/user.ts'
import { landing, mailAfter, nextMail, open } from '../support/mail-journeys.ts'
import { adminToken, confirmedPerson, newAddress } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('POST /invite', () => {
  const servers = sharedServers()

  test('makes an account that waits for its person', async () => {
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
    assert.equal((await nextMail(server, email)).mail.subject, "You've been invited")
  })

  test('again sends a new link, and the one before is void', async () => {
    const server = await servers()
    const email = newAddress()
    const token = await adminToken(server.app)
    const invite = () => call(server.app, '/invite', { email }, { token })
    const first = await mailAfter(server, email, invite)
    const second = await mailAfter(server, email, invite)
    assert.equal(landing(await open(server.app, first)).fragment.error_code, 'otp_expired')
    assert.equal(landing(await open(server.app, second)).fragment.type, 'invite')
  })

  test('is refused for somebody who is here already, and for what is no address', async () => {
    const server = await servers()
    const token = await adminToken(server.app)
    const { email } = (await confirmedPerson(server)).user
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

  test('works when sign-ups are closed', async () => {
    const server = await servers({ AUTH_DISABLE_SIGNUP: 'true' })
    const email = newAddress()
    const token = await adminToken(server.app)
    const message = await mailAfter(server, email, () =>
      call(server.app, '/invite', { email }, { token }),
    )
    assert.equal(landing(await open(server.app, message)).fragment.type, 'invite')
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
    { role: 'supabase_admin', env: { AUTH_JWT_ADMIN_ROLES: 'boss' }, allowed: false },
  ]
  for (const { role, env = {}, allowed } of roles) {
    test(`${role} ${Object.values(env)}: ${allowed ? 'may' : 'may not'}`, async () => {
      const server = await servers(env)
      const token = await adminToken(server.app, role)
      const response = await call(server.app, '/invite', { email: newAddress() }, { token })
      assert.equal(response.statusCode, allowed ? 200 : 403)
      if (!allowed) assert.equal(response.json().error_code, 'not_admin')
    })
  }

  test('without a token is refused', async () => {
    const { app } = await servers()
    assert.equal((await call(app, '/invite', { email: newAddress() })).statusCode, 401)
  })
})
