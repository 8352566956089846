import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import Fastify from 'fastify'

import configPlugin from '../../../plugins/config.ts'
import { type CaptchaDeps, createCaptcha } from '../../../plugins/http/captcha.ts'
import clientIp from '../../../plugins/http/client-info/index.ts'
import telemetry from '../../../plugins/observability/telemetry/index.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { testConfig } from '../../support/config.ts'
import { deadUrl, type VendorResponse, vendorServer } from '../../support/vendor-server.ts'

type CaptchaConfig = CaptchaDeps['config']

const on: CaptchaConfig = {
  AUTH_SECURITY_CAPTCHA_ENABLED: true,
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
  AUTH_SECURITY_CAPTCHA_SECRET: 's3cret&',
  AUTH_SECURITY_CAPTCHA_TIMEOUT: 60,
  AUTH_SECURITY_CAPTCHA_URL: undefined,
}
const solved: VendorResponse = {
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

async function provider(
  t: TestContext,
  response: VendorResponse,
  config: Partial<CaptchaConfig> = {},
) {
  const vendor = await vendorServer(t, response)
  const url = `${vendor.url}/siteverify`
  return { vendor, ...make({ AUTH_SECURITY_CAPTCHA_URL: url, ...config }) }
}

async function server(t: TestContext) {
  const app = Fastify()
  t.after(() => app.close())
  await app.register(configPlugin, { config: testConfig() })
  await app.register(telemetry)
  await app.register(clientIp)
  return app
}

/** A server with one protected path, called over HTTP. */
async function site(t: TestContext, response: VendorResponse, config: Partial<CaptchaConfig> = {}) {
  const made = await provider(t, response, config)
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

suite('request to the captcha provider', () => {
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
    test(`is sent to ${endpoint}`, async () => {
      const requested: unknown[] = []
      const { captcha } = make({ AUTH_SECURITY_CAPTCHA_PROVIDER: name }, async (input) => {
        requested.push(input)
        return Response.json({ success: true })
      })
      await captcha.verify('token', '203.0.113.7')
      assert.deepEqual(requested, [endpoint])
    })
  }
})

suite('response of the captcha provider', () => {
  const rejections: [VendorResponse, RegExp][] = [
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
  for (const [response, message] of rejections) {
    test(`returns 400 captcha_failed for ${JSON.stringify(response)}`, async (t) => {
      const { captcha } = await provider(t, response)
      await assert.rejects(captcha.verify('t', '::1'), failure('captcha_failed', 400, message))
    })
  }

  const failures: VendorResponse[] = [
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
  for (const response of failures) {
    test(`returns 500 unexpected_failure for ${JSON.stringify(response)}`, async (t) => {
      const isSilent = response === 'hang' || response === 'stall'
      const limits = isSilent ? { AUTH_SECURITY_CAPTCHA_TIMEOUT: 1 } : {}
      const { captcha } = await provider(t, response, limits)
      const failed = failure('unexpected_failure', 500, /^captcha verification process failed$/)
      await assert.rejects(captcha.verify('t', '::1'), failed)
    })
  }

  test('returns 500 for a redirect and does not send the secret to its target', async (t) => {
    const other = await vendorServer(t, solved)
    const headers = { location: `${other.url}/siteverify` }
    const { captcha } = await provider(t, { status: 307, headers })
    await assert.rejects(captcha.verify('t', '::1'), failure('unexpected_failure', 500, /captcha/))
    assert.deepEqual(other.seen, [])
  })

  test('returns 500 when the provider is unreachable', async () => {
    const { captcha } = make({ AUTH_SECURITY_CAPTCHA_URL: await deadUrl() })
    await assert.rejects(captcha.verify('t', '::1'), failure('unexpected_failure', 500, /captcha/))
  })

  test('logs a warning when the provider rejects the secret', async (t) => {
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
    test(`accepts ${token} from ${JSON.stringify(body)}`, async (t) => {
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
    test(`rejects ${JSON.stringify(body)} without a request to the provider`, async (t) => {
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

  test('sends the client’s address', async (t) => {
    const { vendor, post } = await site(t, solved)
    await post({ captcha_token: 't' }, { 'x-forwarded-for': '10.0.0.1, 198.51.100.4' })
    await post({ captcha_token: 't' })
    const reported = vendor.seen.map(({ form }) => form.remoteip)
    assert.deepEqual(reported, ['198.51.100.4', '127.0.0.1'])
  })

  test('requires a captcha from every client except an admin', async (t) => {
    const { vendor, post } = await site(t, { json: { success: false } })
    assert.equal(await post({}, { authorization: 'Bearer admin' }), 200)
    assert.equal(vendor.seen.length, 0)
    assert.notEqual(await post({}, { authorization: 'Bearer user' }), 200)
  })

  test('sends no request while captchas are disabled', async (t) => {
    const off = { AUTH_SECURITY_CAPTCHA_ENABLED: false, AUTH_SECURITY_CAPTCHA_SECRET: undefined }
    const { vendor, captcha, post } = await site(t, 'drop', off)
    assert.equal(captcha.enabled, false)
    assert.equal(await post({}), 200)
    assert.equal(vendor.seen.length, 0)
  })
})

suite('captcha configuration', () => {
  for (const missing of [
    'AUTH_SECURITY_CAPTCHA_PROVIDER',
    'AUTH_SECURITY_CAPTCHA_SECRET',
  ] as const) {
    test(`rejects the start without ${missing}`, () => {
      assert.throws(() => make({ [missing]: undefined }), new RegExp(missing))
    })
  }
})
