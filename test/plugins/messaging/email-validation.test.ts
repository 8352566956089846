/** AUTH_MAILER_EMAIL_VALIDATION_…: addresses that no email can reach. */
import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { suite, type TestContext, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { signedInAdminCreatedUser } from '../../support/users.ts'
import { vendorServer } from '../../support/vendor-server.ts'

const password = 'correct horse battery'
const prefix = 'AUTH_MAILER_EMAIL_VALIDATION'
const rejected = [400, 'email_address_invalid']

const requests: Record<string, (server: Built, email: string) => ReturnType<typeof call>> = {
  '/signup': ({ app }, email) => call(app, '/signup', { email, password }),
  '/otp': ({ app }, email) => call(app, '/otp', { email }),
  '/magiclink': ({ app }, email) => call(app, '/magiclink', { email }),
  '/recover': ({ app }, email) => call(app, '/recover', { email }),
  '/resend': ({ app }, email) => call(app, '/resend', { type: 'signup', email }),
  '/invite': ({ app }, email) => asAdmin(app, 'POST', '/invite', { email }),
}

suite('extended email validation', () => {
  test('rejects implausible addresses wherever an email would be sent', async (t) => {
    const server = await build(t, { env: { [`${prefix}_EXTENDED`]: 'true' } })
    const implausible = [
      'ann@example.com',
      'ann@mail.example.org',
      'ann@corp.test',
      'ann@localhost',
      'test@gmail.com',
      'short@gmail.com',
      'ann@gamil.com',
      'ann@single-label',
    ]
    for (const email of implausible) {
      assert.deepEqual(statusAndCode(await call(server.app, '/otp', { email })), rejected, email)
    }
    for (const [path, send] of Object.entries(requests)) {
      const response = await send(server, 'Ann@Example.com')
      assert.deepEqual(statusAndCode(response), rejected, path)
      assert.equal(response.json().msg, 'Email address "ann@example.com" is invalid')
    }
    assert.equal((await call(server.app, '/otp', { email: 'ann.lee@gmail.com' })).statusCode, 200)
    const { session } = await signedInAdminCreatedUser(server.app, 'bob@example.com')
    const changed = await changeUser(server.app, session.access_token, { email: 'ann@example.com' })
    assert.deepEqual(statusAndCode(changed), rejected)
  })

  test('rejects domains without mail servers, and those with a blocked one', async (t) => {
    const blocked = '["mx.disposable.io"]'
    const env = { [`${prefix}_EXTENDED`]: 'true', [`${prefix}_BLOCKED_MX`]: blocked }
    const { app } = await build(t, { env })
    useDns(t, {
      'good.io': ['mx.good.io'],
      'throwaway.io': ['MX.Disposable.io'],
      'null.io': [''],
      'host.io': '192.0.2.1',
    })
    const expected: Record<string, [number, string]> = {
      'ann@good.io': [200, ''],
      'ann@host.io': [200, ''],
      'ann@failing.io': [200, ''],
      'ann@throwaway.io': [400, 'email_address_invalid'],
      'ann@null.io': [400, 'email_address_invalid'],
      'ann@gone.io': [400, 'email_address_invalid'],
    }
    for (const [email, outcome] of Object.entries(expected)) {
      assert.deepEqual(statusAndCode(await call(app, '/recover', { email })), outcome, email)
    }
  })

  test('is off by default, and where no email is sent', async (t) => {
    const { app } = await build(t)
    assert.equal((await call(app, '/recover', { email: 'ann@example.com' })).statusCode, 200)
    const env = { [`${prefix}_EXTENDED`]: 'true', AUTH_MAILER_AUTOCONFIRM: 'true' }
    const { app: confirming } = await build(t, { env })
    const body = { email: 'ann@example.com', password }
    assert.equal((await call(confirming, '/signup', body)).statusCode, 200)
  })
})

suite('email validation service', () => {
  test('rejects by its response and accepts when it fails', async (t) => {
    const service = await vendorServer(t, { status: 200, json: { valid: false } })
    const { app } = await build(t, {
      env: {
        [`${prefix}_SERVICE_URL`]: service.url,
        [`${prefix}_SERVICE_HEADERS`]: '{"authorization": ["Bearer a-key"]}',
      },
    })
    const recover = () => call(app, '/recover', { email: 'ann@example.com' })
    assert.deepEqual(statusAndCode(await recover()), rejected)
    const [request] = service.seen
    assert.deepEqual(JSON.parse(request?.body ?? ''), { email: 'ann@example.com' })
    assert.equal(request?.headers.authorization, 'Bearer a-key')

    const accepting = [
      { status: 200, json: { valid: true } },
      { status: 200, json: {} },
      { status: 503, json: { valid: false } },
      { status: 200, json: 'not an object' },
      'drop' as const,
    ]
    for (const response of accepting) {
      service.restart(response)
      assert.equal((await recover()).statusCode, 200, JSON.stringify(response))
    }
  })
})

/** Names without an entry do not exist, except one whose look-up fails. */
function useDns(t: TestContext, zone: Record<string, string[] | string>) {
  const find = (name: string) => {
    const host = name.replace(/\.$/, '')
    if (host === 'failing.io') throw Object.assign(new Error('failed'), { code: 'ESERVFAIL' })
    return zone[host]
  }
  const missing = () => Object.assign(new Error('missing'), { code: 'ENOTFOUND' })
  t.mock.method(dns, 'resolveMx', async (name: string) => {
    const servers = find(name)
    if (!Array.isArray(servers)) throw missing()
    return servers.map((exchange) => ({ exchange, priority: 10 }))
  })
  for (const [method, isFour] of [
    ['resolve4', true],
    ['resolve6', false],
  ] as const) {
    t.mock.method(dns, method, async (name: string) => {
      const ip = find(name)
      if (typeof ip !== 'string' || !isFour) throw missing()
      return [ip]
    })
  }
}
