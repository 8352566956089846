/** What comes of a request for a mail, by who lives at the address. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { idle, mailAfter, nextMail } from '../support/mail-journeys.ts'
import { addresses, newAddress, signIn } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('asking for a mail', () => {
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
      who: 'with a change of address pending',
      subject: 'Confirm your new email address',
      body: { type: 'email_change' },
    },
  ]
  for (const { path, who, subject, body = {} } of outcomes) {
    test(`${path} for an address that is ${who}: ${subject ?? 'nothing'}`, async () => {
      const server = await servers()
      const email = (await addresses[who]?.(server)) ?? ''
      await idle(server)
      const since = server.mail.messages.length
      const response = await call(server.app, path, { email, ...body })
      assert.equal(response.statusCode, 200, response.body)
      if (subject) {
        assert.equal((await nextMail(server, email, since)).mail.subject, subject)
        return
      }
      await idle(server)
      assert.equal(server.mail.messages.length, since)
    })
  }

  test('with sign-ups closed nobody new is written to, and those who are there are', async () => {
    const server = await servers({ AUTH_DISABLE_SIGNUP: 'true' })
    const since = server.mail.messages.length
    const email = newAddress()
    assert.deepEqual((await call(server.app, '/otp', { email })).json(), {})
    await idle(server)
    assert.equal(server.mail.messages.length, since)
    const { rows } = await server.app.pool.query('select 1 from auth.users')
    assert.equal(rows.length, 0)
  })

  test('with autoconfirmation somebody new is confirmed and gets a sign-in link', async () => {
    const server = await servers({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const email = newAddress()
    const message = await mailAfter(server, email, () => call(server.app, '/otp', { email }))
    assert.equal(message.mail.subject, 'Your sign-in link')
    const person = await server.app.db
      .selectFrom('users')
      .select(['email_confirmed_at', 'encrypted_password'])
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    assert.ok(person.email_confirmed_at)
    assert.equal(person.encrypted_password, null)
    assert.equal((await signIn(server.app, { email, password: '' })).statusCode, 400)
  })

  test('create_user false tells that an address is unknown, malformed ones alike', async () => {
    const { app } = await servers()
    for (const email of [newAddress(), 'nonsense']) {
      const response = await call(app, '/otp', { email, create_user: false })
      assert.equal(response.statusCode, 422)
      assert.equal(response.json().error_code, 'otp_disabled')
    }
  })
})
