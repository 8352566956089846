import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import Fastify from 'fastify'

import { ApiError } from '../../errors.ts'
import { type CaptchaDeps, createCaptcha } from '../../plugins/captcha.ts'
import clientIp from '../../plugins/client-ip.ts'
import configPlugin from '../../plugins/config/index.ts'
import { configOf } from '../support/config.ts'
import { type Answer, deadUrl, vendorServer } from '../support/vendor-server.ts'

type CaptchaConfig = CaptchaDeps['config']

const on: CaptchaConfig = {
  AUTH_SECURITY_CAPTCHA_ENABLED: true,
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
  AUTH_SECURITY_CAPTCHA_SECRET: 's3cret&',
  AUTH_SECURITY_CAPTCHA_TIMEOUT: 1,
  AUTH_SECURITY_CAPTCHA_URL: undefined,
}
const solved: Answer = {
  json: { success: true, challenge_ts: '2026-01-01T00:00:00Z', hostname: 'a', 'error-codes': [] },
}

function make(config: Partial<CaptchaConfig>, fetching: typeof fetch = fetch) {
  const warnings: unknown[] = []
  const log = { warn: (...args: unknown[]) => void warnings.push(args) }
  const isAdmin: CaptchaDeps['isAdmin'] = async ({ headers }) =>
    headers.authorization === 'Bearer admin'
  const captcha = createCaptcha({ config: { ...on, ...config }, fetch: fetching, log, isAdmin })
  return { captcha, warnings }
}

async function provider(t: TestContext, answer: Answer, config: Partial<CaptchaConfig> = {}) {
  const vendor = await vendorServer(t, answer)
  const url = `${vendor.url}/siteverify`
  return { vendor, ...make({ AUTH_SECURITY_CAPTCHA_URL: url, ...config }) }
}

async function server(t: TestContext) {
  const app = Fastify()
  t.after(() => app.close())
  await app.register(configPlugin, { config: configOf() })
  await app.register(clientIp)
  return app
}

/** A server with one protected path, spoken to over HTTP. */
async function site(t: TestContext, answer: Answer, config: Partial<CaptchaConfig> = {}) {
  const made = await provider(t, answer, config)
  const app = await server(t)
  app.post('/signup', { preHandler: made.captcha.requireCaptcha }, async () => ({ in: true }))
  const post = async (payload: object, headers: Record<string, string> = {}) =>
    (await app.inject({ method: 'POST', url: '/signup', payload, headers })).statusCode
  return { ...made, post }
}

function failure(errorCode: string, status: number, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.errorCode, error.status], [errorCode, status])
    assert.match(error.message, message)
    return true
  }
}

suite('the question to the provider', () => {
  test('is a form with secret, response and remoteip', async (t) => {
    const { vendor, captcha } = await provider(t, solved)

    await captcha.verify('tok en', '203.0.113.7')

    assert.equal(vendor.seen.length, 1)
    const [seen] = vendor.seen
    assert.equal(seen?.method, 'POST')
    assert.equal(seen.path, '/siteverify')
    assert.match(seen.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
    assert.deepEqual(seen.form, { secret: 's3cret&', response: 'tok en', remoteip: '203.0.113.7' })
  })

  const endpoints = [
    ['hcaptcha', 'https://hcaptcha.com/siteverify'],
    ['turnstile', 'https://challenges.cloudflare.com/turnstile/v0/siteverify'],
  ] as const
  for (const [name, endpoint] of endpoints) {
    test(`goes to ${endpoint}`, async () => {
      const asked: unknown[] = []
      const { captcha } = make({ AUTH_SECURITY_CAPTCHA_PROVIDER: name }, async (input) => {
        asked.push(input)
        return Response.json({ success: true })
      })
      await captcha.verify('token', '203.0.113.7')
      assert.deepEqual(asked, [endpoint])
    })
  }
})

suite('the verdict', () => {
  const refusals: [Answer, RegExp][] = [
    [{ json: { success: false } }, /\(not solved\)$/],
    [
      {
        json: { success: false, 'error-codes': ['invalid-input-response', 'timeout-or-duplicate'] },
      },
      /\(invalid-input-response, timeout-or-duplicate\)$/,
    ],
    [{ status: 400, json: { success: false, 'error-codes': ['bad-request'] } }, /\(bad-request\)$/],
    [{ json: { success: false, 'error-codes': ['<b>x</b>'] } }, /\(not solved\)$/],
  ]
  for (const [answer, message] of refusals) {
    test(`${JSON.stringify(answer)} is a refusal`, async (t) => {
      const { captcha } = await provider(t, answer)
      await assert.rejects(captcha.verify('t', '::1'), failure('captcha_failed', 400, message))
    })
  }

  const silences: Answer[] = [
    'hang',
    'drop',
    'stall',
    { text: 'OK' },
    { json: null },
    { json: { success: 'true' } },
    { json: { ok: true } },
    { status: 500, json: { success: true } },
    { status: 302, headers: { location: '/elsewhere' } },
  ]
  for (const answer of silences) {
    test(`${JSON.stringify(answer)} lets nobody in`, async (t) => {
      const { captcha } = await provider(t, answer)
      const failed = failure('unexpected_failure', 500, /^captcha verification process failed$/)
      await assert.rejects(captcha.verify('t', '::1'), failed)
    })
  }

  test('one that sends us elsewhere lets nobody in, and the secret goes nowhere else', async (t) => {
    const elsewhere = await vendorServer(t, solved)
    const headers = { location: `${elsewhere.url}/siteverify` }
    const { captcha } = await provider(t, { status: 307, headers })
    await assert.rejects(captcha.verify('t', '::1'), failure('unexpected_failure', 500, /captcha/))
    assert.deepEqual(elsewhere.seen, [])
  })

  test('a provider that is not there lets nobody in', async () => {
    const { captcha } = make({ AUTH_SECURITY_CAPTCHA_URL: await deadUrl() })
    await assert.rejects(captcha.verify('t', '::1'), failure('unexpected_failure', 500, /captcha/))
  })

  test('a refused secret is told to the operator', async (t) => {
    const json = { success: false, 'error-codes': ['invalid-input-secret'] }
    const { captcha, warnings } = await provider(t, { json })
    await assert.rejects(captcha.verify('t', '::1'), ApiError)
    assert.match(JSON.stringify(warnings), /AUTH_SECURITY_CAPTCHA_SECRET/)
    assert.doesNotMatch(JSON.stringify(warnings), /s3cret/)
  })
})

suite('requireCaptcha', () => {
  const bodies: [object, string][] = [
    [{ gotrue_meta_security: { captcha_token: ' nested ' } }, 'nested'],
    [{ captcha_token: 'top' }, 'top'],
    [{ gotrue_meta_security: { captcha_token: 'nested' }, captcha_token: 'top' }, 'nested'],
    [{ gotrue_meta_security: { captcha_token: ' ' }, captcha_token: 'top' }, 'top'],
    [{ gotrue_meta_security: null, captcha_token: 'top' }, 'top'],
  ]
  for (const [body, token] of bodies) {
    test(`takes ${token} from ${JSON.stringify(body)}`, async (t) => {
      const { vendor, post } = await site(t, solved)
      assert.equal(await post(body), 200)
      assert.equal(vendor.seen[0]?.form.response, token)
    })
  }

  const without: object[] = [
    {},
    [],
    { captcha_token: '' },
    { captcha_token: 7 },
    { captcha_token: ['x'] },
    { gotrue_meta_security: { captcha_token: '\t' } },
    { gotrue_meta_security: 'x' },
  ]
  for (const body of without) {
    test(`${JSON.stringify(body)} holds no token: refused unasked`, async (t) => {
      const { vendor, captcha } = await provider(t, solved)
      const app = await server(t)
      app.post('/', { preHandler: captcha.requireCaptcha }, async () => ({ in: true }))
      app.setErrorHandler((error: ApiError, _request, reply) => reply.send([error.message]))

      const response = await app.inject({ method: 'POST', url: '/', payload: body })

      const message = 'captcha protection: request disallowed (no captcha_token found)'
      assert.deepEqual(response.json(), [message])
      assert.equal(vendor.seen.length, 0)
    })
  }

  test('tells the provider the address of the client', async (t) => {
    const { vendor, post } = await site(t, solved)
    await post({ captcha_token: 't' }, { 'x-forwarded-for': '10.0.0.1, 198.51.100.4' })
    await post({ captcha_token: 't' })
    const told = vendor.seen.map(({ form }) => form.remoteip)
    assert.deepEqual(told, ['198.51.100.4', '127.0.0.1'])
  })

  test('an admin passes without a captcha, another bearer does not', async (t) => {
    const { vendor, post } = await site(t, { json: { success: false } })
    assert.equal(await post({}, { authorization: 'Bearer admin' }), 200)
    assert.equal(vendor.seen.length, 0)
    assert.notEqual(await post({}, { authorization: 'Bearer person' }), 200)
  })

  test('switched off, nothing is asked', async (t) => {
    const off = { AUTH_SECURITY_CAPTCHA_ENABLED: false, AUTH_SECURITY_CAPTCHA_SECRET: undefined }
    const { vendor, captcha, post } = await site(t, 'drop', off)
    assert.equal(captcha.enabled, false)
    assert.equal(await post({}), 200)
    assert.equal(vendor.seen.length, 0)
  })
})

suite('the start is refused', () => {
  for (const missing of [
    'AUTH_SECURITY_CAPTCHA_PROVIDER',
    'AUTH_SECURITY_CAPTCHA_SECRET',
  ] as const) {
    test(`without ${missing}`, () => {
      assert.throws(() => make({ [missing]: undefined }), new RegExp(missing))
    })
  }
})
