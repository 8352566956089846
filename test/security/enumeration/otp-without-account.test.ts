/** POST /otp with `create_user: false` does not reveal accounts. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { withoutDrop } from '../../support/database.ts'
import { emailAfter, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { buildWithSms, codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { watchTrips } from '../../support/statements.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  phoneUser,
} from '../../support/users.ts'

const disclosed = { AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR: 'true' }

suite('POST /otp with create_user=false', () => {
  const servers = sharedServers()
  const texting = sharedSmsServer()

  const requests: Record<string, { env?: Record<string, string>; body?: object }> = {
    'by default': {},
    'with metadata that is too large': { body: { data: { a: 'x'.repeat(70_000) } } },
    'with sign-ups disabled': { env: { AUTH_DISABLE_SIGNUP: 'true' } },
    'with a PKCE challenge': {
      body: { code_challenge: 'c'.repeat(43), code_challenge_method: 's256' },
    },
    'with magic links disabled': { env: { AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: 'false' } },
  }
  for (const [title, { env = {}, body = {} }] of Object.entries(requests)) {
    test(`responds identically for known and unknown emails ${title}`, async () => {
      // With one connection, prepared statements are pipelined: round trips are the same for each.
      const { app } = await servers({ ...env, AUTH_DB_MAX_POOL_SIZE: '1' })
      const known = newAddress()
      await adminCreatedUser(app, { email: known, email_confirm: true })
      await app.jobQueue.stop()
      const send = async (email: string) => {
        const request = () => call(app, '/otp', { email, create_user: false, ...body })
        const { result, trips } = await watchTrips(app, request)
        return { status: result.statusCode, body: result.body, trips }
      }
      await send(newAddress())
      assert.deepEqual(await send(newAddress()), await send(known))
    })
  }

  test('responds identically for known and unknown phones, also while phones are disabled', async (t) => {
    const server = await texting()
    const { user } = await phoneUser(server)
    const off = await build(t, { database: withoutDrop(server.database) })
    for (const { app } of [server, off]) {
      const [known, unknown] = [
        await call(app, '/otp', { phone: user.phone, create_user: false }),
        await call(app, '/otp', { phone: newNumber(), create_user: false }),
      ]
      assert.deepEqual([unknown.statusCode, unknown.body], [known.statusCode, known.body])
    }
  })

  test('sends nothing to an unknown email and signs in a known one', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server)
    const since = server.mail.messages.length
    const unknown = newAddress()
    const response = await call(server.app, '/otp', { email: unknown, create_user: false })
    assert.deepEqual([response.statusCode, response.json()], [200, {}])
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
    const { rows } = await server.app.pool.query('select from auth.users where email = $1', [
      unknown,
    ])
    assert.equal(rows.length, 0)
    const send = () => call(server.app, '/otp', { email: user.email, create_user: false })
    const { mail } = await emailAfter(server, user.email, send)
    assert.equal(mail.subject, 'Your sign-in link')
  })

  test('sends no SMS to an unknown phone and signs in a known one', async () => {
    const server = await texting()
    const { user } = await phoneUser(server)
    const since = server.sms.messages.length
    const unknown = newNumber()
    const response = await call(server.app, '/otp', { phone: unknown, create_user: false })
    assert.deepEqual([response.statusCode, response.json()], [200, {}])
    assert.equal(server.sms.messages.length, since)
    const { rows } = await server.app.pool.query('select from auth.users where phone = $1', [
      unknown,
    ])
    assert.equal(rows.length, 0)
    const send = () => call(server.app, '/otp', { phone: user.phone, create_user: false })
    assert.match(await codeAfter(server, user.phone, send), /^\d{6}$/)
  })
})

suite('AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR', () => {
  test('returns otp_disabled for unknown emails and phones after all other checks', async (t) => {
    const server = await buildWithSms(t, { env: disclosed })
    const unknown = [{ email: newAddress() }, { phone: newNumber() }]
    for (const identifier of unknown) {
      const send = (more: object) =>
        call(server.app, '/otp', { ...identifier, create_user: false, ...more })
      assert.deepEqual(statusAndCode(await send({})), [422, 'otp_disabled'])
      const data = { a: 'x'.repeat(70_000) }
      assert.notEqual(statusAndCode(await send({ data }))[1], 'otp_disabled')
    }
  })

  test('stops returning otp_disabled after 20 unknown emails from one network', async (t) => {
    const server = await build(t, { env: disclosed })
    const { user } = await confirmedUser(server)
    const send = (email: string) => call(server.app, '/otp', { email, create_user: false })
    const statuses = []
    for (let i = 0; i < 25; i++) statuses.push((await send(newAddress())).statusCode)
    assert.deepEqual(statuses, [...Array(20).fill(422), ...Array(5).fill(200)])
    // Neighbours in the network still sign in.
    const { mail } = await emailAfter(server, user.email, () => send(user.email))
    assert.equal(mail.subject, 'Your sign-in link')
  })
})
