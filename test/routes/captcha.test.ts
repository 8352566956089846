import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminToken, password } from '../support/people.ts'
import { call, outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { type Answer, deadUrl, vendorServer } from '../support/vendor-server.ts'

const solved: Answer = { json: { success: true, hostname: 'app.example', 'error-codes': [] } }
const unsolved: Answer = { json: { success: false, 'error-codes': ['invalid-input-response'] } }
const failed = [400, 'captcha_failed']
const email = 'ann@example.com'

const protectedPaths: Record<string, [url: string, body: object]> = {
  'sign-up': ['/signup', { email, password }],
  'anonymous sign-up': ['/signup', {}],
  recovery: ['/recover', { email }],
  'a confirmation once more': ['/resend', { type: 'signup', email }],
  'a magic link': ['/magiclink', { email }],
  'a code by mail': ['/otp', { email }],
  'a code by text message': ['/otp', { phone: '15550100200' }],
  'a password': ['/token?grant_type=password', { email, password }],
  'an unknown grant': ['/token?grant_type=web9', {}],
}

async function start(t: TestContext, answer: Answer | { url: string }, more: object = {}) {
  const isUrl = typeof answer === 'object' && 'url' in answer
  const vendor = isUrl ? { url: answer.url, seen: [] } : await vendorServer(t, answer)
  const server = await build(t, {
    env: {
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'hCaptcha',
      AUTH_SECURITY_CAPTCHA_SECRET: 'captcha-secret',
      AUTH_SECURITY_CAPTCHA_URL: `${vendor.url}/siteverify`,
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_TEST_OTP: '15550100200:123456',
      ...more,
    },
  })
  return { ...server, seen: vendor.seen }
}

suite('with captchas on', () => {
  for (const provider of ['hCaptcha', 'Turnstile']) {
    test(`${provider}: each protected endpoint asks for a token, and takes it in both places`, async (t) => {
      const { app, seen } = await start(t, solved, { AUTH_SECURITY_CAPTCHA_PROVIDER: provider })
      for (const [name, [url, body]] of Object.entries(protectedPaths)) {
        seen.length = 0
        const without = await call(app, url, body)
        assert.deepEqual(outcomeOf(without), failed, name)
        assert.match(without.json().msg, /no captcha_token found/)
        assert.equal(seen.length, 0, 'nothing to ask about')
        const places = [
          { captcha_token: 'tok' },
          { gotrue_meta_security: { captcha_token: 'tok' } },
        ]
        for (const place of places) {
          const response = await call(app, url, { ...body, ...place })
          assert.notEqual(outcomeOf(response)[1], 'captcha_failed', `${name} ${response.body}`)
        }
        assert.equal(seen.length, 2)
        const { remoteip, ...form } = seen[0]?.form ?? {}
        assert.deepEqual(form, { secret: 'captcha-secret', response: 'tok' })
        assert.equal(remoteip, '127.0.0.1')
      }
    })
  }

  test('a challenge that is not solved is refused everywhere, with the provider’s reasons', async (t) => {
    const { app } = await start(t, unsolved)
    for (const [name, [url, body]] of Object.entries(protectedPaths)) {
      const response = await call(app, url, { ...body, captcha_token: 'tok' })
      assert.deepEqual(outcomeOf(response), failed, name)
      assert.match(response.json().msg, /invalid-input-response/)
    }
    const { rows } = await app.pool.query('select id from auth.users')
    assert.deepEqual(rows, [])
  })

  test('an admin needs none; somebody who says so does', async (t) => {
    const { app, seen } = await start(t, unsolved)
    const token = await adminToken(app)
    for (const [name, [url, body]] of Object.entries(protectedPaths)) {
      const admin = await call(app, url, body, { token })
      assert.notEqual(outcomeOf(admin)[1], 'captcha_failed', `${name} ${admin.body}`)
      for (const forged of [`${token}x`, await adminToken(app, 'authenticated'), 'admin']) {
        assert.deepEqual(outcomeOf(await call(app, url, body, { token: forged })), failed, name)
      }
    }
    assert.equal(seen.length, 0)
  })

  test('what proves a person already needs none', async (t) => {
    const { app } = await start(t, unsolved)
    const grants = {
      refresh_token: { refresh_token: 'aaaaaaaaaaaa' },
      pkce: { auth_code: crypto.randomUUID(), code_verifier: 'x'.repeat(43) },
      id_token: { provider: 'google', id_token: 'x' },
    }
    const free: [string, object][] = [
      ['/verify', { type: 'sms', phone: '15550100200', token: '123456' }],
      ...Object.entries(grants).map(([grant, body]): [string, object] => [
        `/token?grant_type=${grant}`,
        body,
      ]),
    ]
    for (const [url, body] of free) {
      const response = await call(app, url, body)
      assert.ok(response.statusCode >= 400, url)
      assert.notEqual(outcomeOf(response)[1], 'captcha_failed', url)
    }
  })

  const down: Record<string, () => Promise<Answer | { url: string }>> = {
    'not there': async () => ({ url: await deadUrl() }),
    silent: async () => 'hang',
    'cut off': async () => 'drop',
    garbage: async () => ({ text: '<html>' }),
    'a success with a bad status': async () => ({ status: 500, json: { success: true } }),
  }
  for (const [what, answer] of Object.entries(down)) {
    test(`provider ${what}: nobody gets in`, async (t) => {
      const { app } = await start(t, await answer(), { AUTH_SECURITY_CAPTCHA_TIMEOUT: '800ms' })
      for (const [url, body] of [
        protectedPaths['sign-up'],
        protectedPaths['anonymous sign-up'],
      ].map((path) => path ?? assert.fail())) {
        const response = await call(app, url, { ...body, captcha_token: 'tok' })
        assert.deepEqual(outcomeOf(response), [500, 'unexpected_failure'])
        assert.match(response.json().msg, /captcha verification process failed/)
        assert.ok(!response.body.includes('captcha-secret'))
      }
      const { rows } = await app.pool.query('select id from auth.users')
      assert.deepEqual(rows, [])
    })
  }
})

suite('captchas and limits by address', () => {
  const env = {
    AUTH_RATE_LIMIT_HEADER: 'x-client',
    AUTH_RATE_LIMIT_OTP: '1',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '1',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1',
  }
  const ask = (app: App, url: string, payload: object) =>
    app.inject({ method: 'POST', url, payload, headers: { 'x-client': '192.0.2.1' } })

  for (const name of ['sign-up', 'anonymous sign-up', 'a password']) {
    const [url, body] = protectedPaths[name] ?? assert.fail()
    test(`${name}: the captcha comes first, so that bots use up nobody’s share`, async (t) => {
      const { app } = await start(t, solved, env)
      for (let time = 0; time < 3; time++) {
        assert.deepEqual(outcomeOf(await ask(app, url, body)), failed)
      }
      const withToken = { ...body, captcha_token: 'tok' }
      assert.notEqual((await ask(app, url, withToken)).statusCode, 429)
      assert.deepEqual(outcomeOf(await ask(app, url, withToken)), [429, 'over_request_rate_limit'])
      assert.deepEqual(outcomeOf(await ask(app, url, body)), failed)
    })
  }

  for (const name of ['recovery', 'a confirmation once more', 'a magic link', 'a code by mail']) {
    const [url, body] = protectedPaths[name] ?? assert.fail()
    test(`${name}: the limit comes first, so that the provider is not flooded`, async (t) => {
      const { app, seen } = await start(t, solved, env)
      assert.deepEqual(outcomeOf(await ask(app, url, body)), failed)
      const withToken = { ...body, captcha_token: 'tok' }
      assert.deepEqual(outcomeOf(await ask(app, url, withToken)), [429, 'over_request_rate_limit'])
      assert.equal(seen.length, 0)
    })
  }
})
