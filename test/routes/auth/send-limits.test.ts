/** Send interval per email address and hourly send quota. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { untilRows } from '../../support/processes/until.ts'
import { call, changeUser } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  autoconfirm,
  confirmedUser,
  invite,
  newAddress,
  password,
  signUp,
  signUpUser,
} from '../../support/users.ts'

type Send = (server: Built, email: string, token: string) => ReturnType<typeof call>

const requests: Record<string, Send> = {
  '/recover': ({ app }, email) => call(app, '/recover', { email }),
  '/magiclink': ({ app }, email) => call(app, '/magiclink', { email }),
  '/otp': ({ app }, email) => call(app, '/otp', { email }),
  '/resend signup': ({ app }, email) => call(app, '/resend', { type: 'signup', email }),
  '/resend email_change': ({ app }, email) => call(app, '/resend', { type: 'email_change', email }),
  '/signup': ({ app }, email) => signUp(app, { email }),
}
const signedIn: Record<string, Send> = {
  'PUT /user': ({ app }, _email, token) => changeUser(app, token, { email: newAddress() }),
  'GET /reauthenticate': ({ app }, _email, token) =>
    call(app, '/reauthenticate', undefined, { token }),
}

/** Sets the clock to `seconds` after `start`. */
function at(t: TestContext, start: number, seconds: number): void {
  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['Date'], now: start + seconds * 1000 })
}

async function mustWait(response: Awaited<ReturnType<typeof call>>, seconds: number) {
  assert.equal(response.statusCode, 429, response.body)
  const { error_code, msg } = response.json()
  assert.equal(error_code, 'over_email_send_rate_limit')
  assert.equal(msg, `For security purposes, you can only request this after ${seconds} seconds.`)
  assert.equal(response.headers['retry-after'], String(seconds))
}

suite('AUTH_SMTP_MAX_FREQUENCY', () => {
  const servers = sharedServers()
  const everyMinute = { AUTH_SMTP_MAX_FREQUENCY: '60' }

  for (const [name, send] of Object.entries(requests)) {
    for (const who of ['unknown', 'known']) {
      test(`throttles ${name} for an ${who} email`, async (t) => {
        const server = await servers(everyMinute)
        const email = newAddress()
        if (who === 'known') {
          await adminCreatedUser(server.app, { email, password, email_confirm: true })
        }
        const start = Date.now()
        at(t, start, 0)
        assert.equal((await send(server, email, '')).statusCode, 200)
        await mustWait(await send(server, email, ''), 60)
        at(t, start, 59.5)
        await mustWait(await send(server, email, ''), 1)
        at(t, start, 60)
        assert.equal((await send(server, email, '')).statusCode, 200)
        assert.equal((await send(server, newAddress(), '')).statusCode, 200)
      })
    }
  }

  for (const [name, send] of Object.entries(signedIn)) {
    test(`throttles ${name}`, async (t) => {
      const server = await servers(everyMinute)
      const { access_token: token } = await confirmedUser(server)
      const start = Date.now()
      at(t, start, 0)
      assert.equal((await send(server, '', token)).statusCode, 200)
      await mustWait(await send(server, '', token), 60)
      at(t, start, 60)
      assert.equal((await send(server, '', token)).statusCode, 200)
    })
  }

  test('throttles requests of different users for one new email', async () => {
    const server = await servers(everyMinute)
    const users = [await confirmedUser(server), await confirmedUser(server)]
    const body = { email: newAddress('victim') }
    const statuses = []
    for (const { access_token: token } of users) {
      statuses.push((await changeUser(server.app, token, body)).statusCode)
    }
    assert.deepEqual(statuses, [200, 429])
  })

  test('accepts one of ten racing requests', async () => {
    const server = await servers(everyMinute)
    const email = newAddress()
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => call(server.app, '/recover', { email })),
    )
    const taken = responses.filter(({ statusCode }) => statusCode === 200)
    assert.equal(taken.length, 1)
  })

  test('shares one interval between recovery and sign-in links, not with confirmations', async () => {
    const server = await servers(everyMinute)
    const email = newAddress()
    assert.equal((await call(server.app, '/recover', { email })).statusCode, 200)
    assert.equal((await call(server.app, '/otp', { email })).statusCode, 429)
    assert.equal((await signUp(server.app, { email })).statusCode, 200)
  })

  test('delays resend after a sign-up but not a sign-up after resend', async (t) => {
    const server = await servers(everyMinute)
    const start = Date.now()
    at(t, start, 0)
    const resend = (email: string) => call(server.app, '/resend', { type: 'signup', email })
    const [first, second] = [newAddress(), newAddress()]
    assert.equal((await signUp(server.app, { email: first })).statusCode, 200)
    await mustWait(await resend(first), 60)
    at(t, start, 60)
    assert.equal((await resend(first)).statusCode, 200)
    assert.equal((await resend(second)).statusCode, 200)
    assert.equal((await signUp(server.app, { email: second })).statusCode, 200)
  })

  test('delays the resend of an email change without reporting it', async () => {
    const server = await servers(everyMinute)
    const { access_token: token, user } = await confirmedUser(server)
    const email = newAddress()
    await emailAfter(server, email, () => changeUser(server.app, token, { email }))
    const body = { type: 'email_change', email: user.email }
    assert.equal((await call(server.app, '/resend', body)).statusCode, 200)
    const postpone = `select from auth_jobs._private_jobs join auth_jobs._private_tasks t on t.id = task_id
      where t.identifier = 'answer_mail_request' and run_at > now() + interval '30 seconds'`
    await untilRows(async () => (await server.app.pool.query(postpone)).rows)
    assert.equal(server.mail.messages.filter(({ to }) => to === email).length, 1)
  })

  test('does not start the interval when the request fails for another reason', async () => {
    const server = await servers({ ...everyMinute, AUTH_RATE_LIMIT_EMAIL_SENT: '0' })
    const email = newAddress()
    for (let i = 0; i < 2; i++) {
      const response = await call(server.app, '/recover', { email })
      assert.equal(response.json().msg, 'email rate limit exceeded')
    }
  })

  test('defaults to 15 minutes for confirmations and one minute otherwise', async (t) => {
    const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '' })
    const email = newAddress()
    const start = Date.now()
    at(t, start, 0)
    await call(server.app, '/recover', { email })
    await signUp(server.app, { email })
    at(t, start, 59)
    await mustWait(await call(server.app, '/recover', { email }), 1)
    at(t, start, 60)
    assert.equal((await call(server.app, '/recover', { email })).statusCode, 200)
    await mustWait(await signUp(server.app, { email }), 840)
    at(t, start, 900)
    assert.equal((await signUp(server.app, { email })).statusCode, 200)
  })

  test('does not throttle invitations', async () => {
    const server = await servers(everyMinute)
    const email = newAddress()
    for (let i = 0; i < 2; i++) await invite(server, email)
  })
})

suite('AUTH_RATE_LIMIT_EMAIL_SENT', () => {
  test('applies to all replicas and per purpose, known email or not', async (t) => {
    const first = await build(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '3' } })
    const { DATABASE_URL } = first.config
    const second = await build(t, { env: { DATABASE_URL, AUTH_RATE_LIMIT_EMAIL_SENT: '3' } })
    const start = Date.now()
    at(t, start, 0)
    for (const { app } of [first, second, first]) {
      const signedUp = await signUp(app, { email: newAddress() })
      assert.equal(signedUp.statusCode, 200)
    }
    for (const { app } of [first, second]) {
      for (const path of ['/signup', '/resend']) {
        const body = { email: newAddress(), password, type: 'signup' }
        const response = await call(app, path, body)
        assert.equal(response.statusCode, 429)
        assert.equal(response.json().error_code, 'over_email_send_rate_limit')
        assert.equal(response.headers['retry-after'], '3600')
      }
    }
    for (const path of ['/recover', '/otp', '/magiclink']) {
      assert.equal((await call(first.app, path, { email: newAddress() })).statusCode, 200)
    }
    const users = await first.app.pool.query('select 1 from auth.users')
    assert.ok(users.rows.length <= 3, 'throttled requests created no user')
    at(t, start, 3600)
    assert.equal((await call(first.app, '/recover', { email: newAddress() })).statusCode, 200)
  })

  test('counts racing requests on two replicas', async (t) => {
    const first = await build(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '5/1h' } })
    const { DATABASE_URL } = first.config
    const second = await build(t, { env: { DATABASE_URL, AUTH_RATE_LIMIT_EMAIL_SENT: '5/1h' } })
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call(i % 2 ? first.app : second.app, '/signup', { email: newAddress(), password }),
      ),
    )
    assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 5)
  })

  test('does not count when AUTH_MAILER_AUTOCONFIRM sends no email', async (t) => {
    const env = { AUTH_RATE_LIMIT_EMAIL_SENT: '0', ...autoconfirm }
    const { app } = await build(t, { env })
    assert.ok((await signUpUser(app)).access_token)
    assert.equal((await call(app, '/recover', { email: newAddress() })).statusCode, 200)
  })
})
