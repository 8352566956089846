/** Emails sent for each state of the account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter, nextEmail, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { addresses, newAddress, signIn } from '../../support/users.ts'

suite('email requests: outcome by account state', () => {
  const servers = sharedServers()

  const outcomes: { path: string; who: string; subject: string | undefined; body?: object }[] = [
    { path: '/recover', who: 'unknown', subject: undefined },
    { path: '/recover', who: 'confirmed', subject: 'Reset your password' },
    { path: '/recover', who: 'unconfirmed', subject: 'Reset your password' },
    { path: '/recover', who: 'banned', subject: 'Reset your password' },
    { path: '/magiclink', who: 'unknown', subject: 'Confirm your email address' },
    { path: '/magiclink', who: 'confirmed', subject: 'Your sign-in link' },
    { path: '/magiclink', who: 'unconfirmed', subject: 'Confirm your email address' },
    { path: '/otp', who: 'unknown', subject: 'Confirm your email address' },
    { path: '/otp', who: 'confirmed', subject: 'Your sign-in link' },
    {
      path: '/otp',
      who: 'confirmed',
      subject: 'Your sign-in link',
      body: { create_user: false },
    },
    { path: '/resend', who: 'unknown', subject: undefined, body: { type: 'signup' } },
    { path: '/resend', who: 'confirmed', subject: undefined, body: { type: 'signup' } },
    {
      path: '/resend',
      who: 'unconfirmed',
      subject: 'Confirm your email address',
      body: { type: 'signup' },
    },
    { path: '/resend', who: 'confirmed', subject: undefined, body: { type: 'email_change' } },
    {
      path: '/resend',
      who: 'with a pending email change',
      subject: 'Confirm your new email address',
      body: { type: 'email_change' },
    },
  ]
  for (const { path, who, subject, body = {} } of outcomes) {
    test(`${path} for ${who} email sends ${subject ?? 'nothing'}`, async () => {
      const server = await servers()
      const email = (await addresses[who]?.(server)) ?? ''
      await waitForIdleQueue(server)
      const since = server.mail.messages.length
      const response = await call(server.app, path, { email, ...body })
      assert.equal(response.statusCode, 200, response.body)
      if (subject) {
        assert.equal((await nextEmail(server, email, since)).mail.subject, subject)
        return
      }
      await waitForIdleQueue(server)
      assert.equal(server.mail.messages.length, since)
    })
  }

  test('AUTH_DISABLE_SIGNUP: emails existing users only', async () => {
    const server = await servers({ AUTH_DISABLE_SIGNUP: 'true' })
    const since = server.mail.messages.length
    const email = newAddress()
    assert.deepEqual((await call(server.app, '/otp', { email })).json(), {})
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
    const { rows } = await server.app.pool.query('select 1 from auth.users')
    assert.equal(rows.length, 0)
  })

  test('AUTH_MAILER_AUTOCONFIRM: confirms a new user and sends a sign-in link', async () => {
    const server = await servers({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const email = newAddress()
    const message = await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    assert.equal(message.mail.subject, 'Your sign-in link')
    const user = await server.app.db
      .selectFrom('users')
      .select(['email_confirmed_at', 'encrypted_password'])
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    assert.ok(user.email_confirmed_at)
    assert.equal(user.encrypted_password, null)
    assert.equal((await signIn(server.app, { email, password: '' })).statusCode, 400)
  })

  test('create_user=false: sends nothing to an unknown email', async () => {
    const server = await servers()
    const since = server.mail.messages.length
    const response = await call(server.app, '/otp', { email: newAddress(), create_user: false })
    assert.deepEqual([response.statusCode, response.json()], [200, {}])
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
  })
})
