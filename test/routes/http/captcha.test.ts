import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Ending } from '../../support/processes/ending.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, type BuildOptions, build } from '../../support/server.ts'
import { adminToken, password } from '../../support/users.ts'
import { deadUrl, type VendorResponse, vendorServer } from '../../support/vendor-server.ts'

const solved: VendorResponse = {
  json: { success: true, hostname: 'app.example', 'error-codes': [] },
}
const unsolved: VendorResponse = {
  json: { success: false, 'error-codes': ['invalid-input-response'] },
}
const failed = [400, 'captcha_failed']
const email = 'ann@example.com'

const protectedPaths: Record<string, [url: string, body: object]> = {
  'sign-up': ['/signup', { email, password }],
  'anonymous sign-up': ['/signup', {}],
  recovery: ['/recover', { email }],
  resend: ['/resend', { type: 'signup', email }],
  'magic link': ['/magiclink', { email }],
  'code by email': ['/otp', { email }],
  'code by SMS': ['/otp', { phone: '15550100200' }],
  'password sign-in': ['/token?grant_type=password', { email, password }],
  'unknown grant': ['/token?grant_type=web9', {}],
}

/** The settings, with a provider at this address. */
const captchaAt = (url: string) => ({
  AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'hCaptcha',
  AUTH_SECURITY_CAPTCHA_SECRET: 'captcha-secret',
  AUTH_SECURITY_CAPTCHA_URL: `${url}/siteverify`,
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SMS_TEST_OTP: '15550100200:123456',
})

async function open(ending: Ending, { env }: BuildOptions) {
  const { url, seen, restart } = await vendorServer(ending, 'hang')
  const { app } = await build(ending, { env: { ...captchaAt(url), ...env } })
  return { app, seen, restart }
}

/** Called in a suite: one server for each configuration. Each test sets the response of the provider. */
function captchaServers() {
  const servers = shareServers(open)
  return async (response: VendorResponse, env?: Record<string, string>) => {
    const { app, seen, restart } = await servers(env)
    restart(response)
    return { app, seen }
  }
}

async function countUsers(app: App): Promise<number> {
  return (await app.pool.query('select id from auth.users')).rows.length
}

suite('captcha', () => {
  const start = captchaServers()

  for (const provider of ['hCaptcha', 'Turnstile']) {
    test(`${provider}: requires a token on each protected endpoint, in either field`, async () => {
      const { app, seen } = await start(solved, { AUTH_SECURITY_CAPTCHA_PROVIDER: provider })
      for (const [name, [url, body]] of Object.entries(protectedPaths)) {
        seen.length = 0
        const without = await call(app, url, body)
        assert.deepEqual(statusAndCode(without), failed, name)
        assert.match(without.json().msg, /no captcha_token found/)
        assert.equal(seen.length, 0, 'nothing to ask about')
        const places = [
          { captcha_token: 'tok' },
          { gotrue_meta_security: { captcha_token: 'tok' } },
        ]
        for (const place of places) {
          const response = await call(app, url, { ...body, ...place })
          assert.notEqual(statusAndCode(response)[1], 'captcha_failed', `${name} ${response.body}`)
        }
        assert.equal(seen.length, 2)
        const { remoteip, ...form } = seen[0]?.form ?? {}
        assert.deepEqual(form, { secret: 'captcha-secret', response: 'tok' })
        assert.equal(remoteip, '127.0.0.1')
      }
    })
  }

  test('rejects a failed challenge on each endpoint with the provider’s reasons', async () => {
    const { app } = await start(unsolved)
    const before = await countUsers(app)
    for (const [name, [url, body]] of Object.entries(protectedPaths)) {
      const response = await call(app, url, { ...body, captcha_token: 'tok' })
      assert.deepEqual(statusAndCode(response), failed, name)
      assert.match(response.json().msg, /invalid-input-response/)
    }
    assert.equal(await countUsers(app), before)
  })

  test('does not require a token from admins', async () => {
    const { app, seen } = await start(unsolved)
    const token = await adminToken(app)
    for (const [name, [url, body]] of Object.entries(protectedPaths)) {
      const admin = await call(app, url, body, { token })
      assert.notEqual(statusAndCode(admin)[1], 'captcha_failed', `${name} ${admin.body}`)
      for (const forged of [`${token}x`, await adminToken(app, 'authenticated'), 'admin']) {
        assert.deepEqual(statusAndCode(await call(app, url, body, { token: forged })), failed, name)
      }
    }
    assert.equal(seen.length, 0)
  })

  test('does not require a token on endpoints with a credential', async () => {
    const { app } = await start(unsolved)
    const grants = {
      refresh_token: { refresh_token: 'aaaaaaaaaaaa' },
      pkce: { auth_code: crypto.randomUUID(), code_verifier: 'x'.repeat(43) },
      id_token: { provider: 'google', id_token: 'x' },
    }
    const free: [string, object][] = [
      ['/verify', { type: 'sms', phone: '15550100299', token: '123456' }],
      ...Object.entries(grants).map(([grant, body]): [string, object] => [
        `/token?grant_type=${grant}`,
        body,
      ]),
    ]
    for (const [url, body] of free) {
      const response = await call(app, url, body)
      assert.ok(response.statusCode >= 400, url)
      assert.notEqual(statusAndCode(response)[1], 'captcha_failed', url)
    }
  })

  const down: Record<string, VendorResponse | undefined> = {
    'is unreachable': undefined,
    silent: 'hang',
    'drops the connection': 'drop',
    garbage: { text: '<html>' },
    'returns success with an error status': { status: 500, json: { success: true } },
  }
  const env = { AUTH_SECURITY_CAPTCHA_TIMEOUT: '800ms' }
  for (const [what, reply] of Object.entries(down)) {
    test(`rejects the request when the provider ${what}`, async (t) => {
      const { app } =
        reply === undefined
          ? await build(t, { env: { ...captchaAt(await deadUrl()), ...env } })
          : await start(reply, env)
      const before = await countUsers(app)
      for (const [url, body] of [
        protectedPaths['sign-up'],
        protectedPaths['anonymous sign-up'],
      ].map((path) => path ?? assert.fail())) {
        const response = await call(app, url, { ...body, captcha_token: 'tok' })
        assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'])
        assert.match(response.json().msg, /captcha verification process failed/)
        assert.ok(!response.body.includes('captcha-secret'))
      }
      assert.equal(await countUsers(app), before)
    })
  }
})

suite('captcha and rate limits', () => {
  const start = captchaServers()
  const env = {
    AUTH_RATE_LIMIT_HEADER: 'x-client',
    AUTH_RATE_LIMIT_OTP: '1',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '1',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1',
  }
  /** A client for each endpoint: their limits are those of one server. */
  const send = (app: App, client: string, url: string, payload: object) =>
    app.inject({ method: 'POST', url, payload, headers: { 'x-client': client } })

  for (const name of ['sign-up', 'anonymous sign-up', 'password sign-in']) {
    const [url, body] = protectedPaths[name] ?? assert.fail()
    test(`${name}: checks the captcha before the rate limit`, async () => {
      const { app } = await start(solved, env)
      for (let time = 0; time < 3; time++) {
        assert.deepEqual(statusAndCode(await send(app, name, url, body)), failed)
      }
      const withToken = { ...body, captcha_token: 'tok' }
      assert.notEqual((await send(app, name, url, withToken)).statusCode, 429)
      assert.deepEqual(statusAndCode(await send(app, name, url, withToken)), [
        429,
        'over_request_rate_limit',
      ])
      assert.deepEqual(statusAndCode(await send(app, name, url, body)), failed)
    })
  }

  for (const name of ['recovery', 'resend', 'magic link', 'code by email']) {
    const [url, body] = protectedPaths[name] ?? assert.fail()
    test(`${name}: checks the rate limit before the captcha`, async () => {
      const { app, seen } = await start(solved, env)
      assert.deepEqual(statusAndCode(await send(app, name, url, body)), failed)
      const withToken = { ...body, captcha_token: 'tok' }
      assert.deepEqual(statusAndCode(await send(app, name, url, withToken)), [
        429,
        'over_request_rate_limit',
      ])
      assert.equal(seen.length, 0)
    })
  }
})
