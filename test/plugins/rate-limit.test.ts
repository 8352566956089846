import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createLocalCounter } from '../../plugins/rate-limits/local-counter.ts'
import { addressKey } from '../../plugins/rate-limits.ts'
import { type App, build } from '../support/server.ts'

const byHeader = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP' }

interface Asking {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  payload?: object
}

const signIn: Asking = {
  method: 'POST',
  url: '/token?grant_type=password',
  payload: { email: 'nobody@example.com', password: 'wrong password' },
}
const anonymous: Asking = { method: 'POST', url: '/signup', payload: {} }
const signUp: Asking = { method: 'POST', url: '/signup', payload: { email: 'x', password: '1' } }
const signUpByNumber: Asking = {
  method: 'POST',
  url: '/signup',
  payload: { phone: 'x', password: '1' },
}
const code: Asking = {
  method: 'POST',
  url: '/verify',
  payload: { type: 'email', email: 'nobody@example.com', token: '123456' },
}
const link: Asking = { method: 'GET', url: '/verify?type=signup&token=abc' }

async function statuses(app: App, asked: Asking, times: number, headers: Record<string, string>) {
  const found: number[] = []
  for (let i = 0; i < times; i++) {
    found.push((await app.inject({ ...asked, headers })).statusCode)
  }
  return found.map((status) => status === 429)
}

suite('limits by client address', () => {
  const limited: [string, Asking, Record<string, string>][] = [
    ['POST /token', signIn, { AUTH_RATE_LIMIT_TOKEN_REFRESH: '2' }],
    ['POST /verify', code, { AUTH_RATE_LIMIT_VERIFY: '2' }],
    ['GET /verify', link, { AUTH_RATE_LIMIT_VERIFY: '2' }],
    ['POST /signup', signUp, { AUTH_RATE_LIMIT_OTP: '2' }],
    ['POST /signup with a number', signUpByNumber, { AUTH_RATE_LIMIT_OTP: '2' }],
    ['anonymous POST /signup', anonymous, { AUTH_RATE_LIMIT_ANONYMOUS_USERS: '2' }],
  ]
  for (const [name, asked, env] of limited) {
    test(`${name} is limited by its own variable`, async (t) => {
      const { app } = await build(t, { env: { ...byHeader, ...env } })
      const first = { 'x-real-ip': '203.0.113.7' }
      assert.deepEqual(await statuses(app, asked, 3, first), [false, false, true])
      const other = { 'x-real-ip': '203.0.113.8' }
      assert.deepEqual(await statuses(app, asked, 1, other), [false])
    })
  }

  test('codes and links of /verify are counted together', async (t) => {
    const { app } = await build(t, { env: { ...byHeader, AUTH_RATE_LIMIT_VERIFY: '2' } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    assert.deepEqual(await statuses(app, link, 2, headers), [false, false])
    assert.deepEqual(await statuses(app, code, 1, headers), [true])
  })

  test('anonymous sign-ups and others are counted apart', async (t) => {
    const env = { ...byHeader, AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1', AUTH_RATE_LIMIT_OTP: '1' }
    const { app } = await build(t, { env })
    const headers = { 'x-real-ip': '203.0.113.7' }
    assert.deepEqual(await statuses(app, anonymous, 1, headers), [false])
    assert.deepEqual(await statuses(app, signUp, 2, headers), [false, true])
    assert.deepEqual(await statuses(app, anonymous, 1, headers), [true])
  })

  test('anonymous sign-ups are counted by the hour', async (t) => {
    const { app } = await build(t, { env: { ...byHeader, AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1' } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    await app.inject({ ...anonymous, headers })
    const wait = Number((await app.inject({ ...anonymous, headers })).headers['retry-after'])
    assert.ok(wait > 3590 && wait <= 3600, `waits ${wait}`)
  })

  test('a refusal says when to come back, in both error forms', async (t) => {
    const { app } = await build(t, { env: { ...byHeader, AUTH_RATE_LIMIT_TOKEN_REFRESH: '1' } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    await app.inject({ ...signIn, headers })
    const answer = await app.inject({ ...signIn, headers })
    const { error_code, code } = answer.json()
    assert.deepEqual({ error_code, code }, { error_code: 'over_request_rate_limit', code: 429 })
    assert.equal(answer.headers['x-ratelimit-limit'], '1')
    assert.equal(answer.headers['x-ratelimit-remaining'], '0')
    const wait = Number(answer.headers['retry-after'])
    assert.ok(wait > 290 && wait <= 300, `waits ${wait}`)
    assert.equal(Number(answer.headers['x-ratelimit-reset']), wait)
    const named = { ...headers, 'x-supabase-api-version': '2024-01-01' }
    const second = await app.inject({ ...signIn, headers: named })
    assert.equal(second.json().code, 'over_request_rate_limit')
  })

  test('the window ends', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { app } = await build(t, { env: { ...byHeader, AUTH_RATE_LIMIT_VERIFY: '1' } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    assert.deepEqual(await statuses(app, link, 2, headers), [false, true])
    t.mock.timers.tick(300_001)
    assert.deepEqual(await statuses(app, link, 2, headers), [false, true])
  })
})

suite('whose address it is', () => {
  const env = { AUTH_RATE_LIMIT_VERIFY: '1' }
  const forwarded = { ...env, AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true' }
  const cases: [string, Record<string, string>, Record<string, string>[], boolean[]][] = [
    ['no header configured: no limit', env, [{}, {}], [false, false]],
    [
      'no header configured: what clients claim is no reason',
      env,
      [{ 'x-forwarded-for': '203.0.113.7' }, { 'x-forwarded-for': '203.0.113.7' }],
      [false, false],
    ],
    ['the header is missing: no limit', { ...env, ...byHeader }, [{}, {}], [false, false]],
    [
      'the first entry of the header counts',
      { ...env, ...byHeader },
      [{ 'x-real-ip': '203.0.113.7, 10.0.0.1' }, { 'x-real-ip': '203.0.113.7, 10.0.0.2' }],
      [false, true],
    ],
    [
      'the first entry counts also when it is no address',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': 'office-7, 203.0.113.7' },
        { 'x-real-ip': 'office-7, 203.0.113.8' },
        { 'x-real-ip': 'office-8, 203.0.113.7' },
      ],
      [false, true, false],
    ],
    [
      'of an entry that is longer than any address, the beginning counts',
      { ...env, ...byHeader },
      ['1', '2'].map((end) => ({ 'x-real-ip': `${'x'.repeat(100)}${end}` })),
      [false, true],
    ],
    [
      'the port of a connection is no part of its client',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': '203.0.113.7:40001' },
        { 'x-real-ip': '203.0.113.7:40002' },
        { 'x-real-ip': '[2001:db8:1:2::1]:40001' },
        { 'x-real-ip': '[2001:db8:1:2::2%eth0]:40002' },
      ],
      [false, true, false, true],
    ],
    [
      'an IPv6 network is one client',
      { ...env, ...byHeader },
      [{ 'x-real-ip': '2001:db8:1:2::1' }, { 'x-real-ip': '2001:db8:1:2:ffff::2' }],
      [false, true],
    ],
    [
      'Proxy-Forwarded-For, when it is trusted',
      forwarded,
      [{ 'proxy-forwarded-for': '203.0.113.7' }, { 'proxy-forwarded-for': '203.0.113.7' }],
      [false, true],
    ],
    [
      'a client cannot choose a new address beside the trusted header',
      forwarded,
      [
        { 'proxy-forwarded-for': '203.0.113.7', 'x-forwarded-for': '198.51.100.1' },
        { 'proxy-forwarded-for': '203.0.113.7', 'x-forwarded-for': '198.51.100.2' },
      ],
      [false, true],
    ],
    [
      'Proxy-Forwarded-For means nothing unless it is trusted',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': '203.0.113.7', 'proxy-forwarded-for': '198.51.100.1' },
        { 'x-real-ip': '203.0.113.7', 'proxy-forwarded-for': '198.51.100.2' },
      ],
      [false, true],
    ],
  ]
  for (const [name, settings, requests, refused] of cases) {
    test(name, async (t) => {
      const { app } = await build(t, { env: settings })
      const found = []
      for (const headers of requests) found.push(...(await statuses(app, link, 1, headers)))
      assert.deepEqual(found, refused)
    })
  }

  test('another spelling of the path is the same path', async (t) => {
    const { app } = await build(t, { env: { ...env, ...byHeader } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    assert.deepEqual(await statuses(app, link, 1, headers), [false])
    const spelled = { ...link, url: '/auth/v1/verify/?type=signup&token=abc' }
    assert.deepEqual(await statuses(app, spelled, 1, headers), [true])
  })

  const keys: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['office-7', 'office-7'],
  ]
  for (const [address, key] of keys) {
    test(`${address} is counted as ${key}`, () => assert.equal(addressKey(address), key))
  }
})

suite('every 429 says when to come back', () => {
  test('also the one of an account with too many wrong passwords', async (t) => {
    const { app } = await build(t)
    let answer = await app.inject(signIn)
    for (let i = 0; i < 10 && answer.statusCode !== 429; i++) answer = await app.inject(signIn)
    assert.equal(answer.statusCode, 429)
    for (const name of ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-reset']) {
      assert.ok(Number(answer.headers[name]) >= 1, name)
    }
    assert.equal(answer.headers['x-ratelimit-remaining'], '0')
  })
})

suite('counting in memory', () => {
  test('each key has its own window', () => {
    const count = createLocalCounter(10)
    assert.deepEqual(count('a', 1000, 0), { current: 1, ttl: 1000 })
    assert.deepEqual(count('a', 1000, 400), { current: 2, ttl: 600 })
    assert.deepEqual(count('b', 1000, 400), { current: 1, ttl: 1000 })
    assert.deepEqual(count('a', 1000, 1000), { current: 1, ttl: 1000 })
  })

  test('a flood of addresses does not grow memory, and forgets the oldest first', () => {
    const count = createLocalCounter(3)
    for (const key of ['a', 'b', 'c', 'd']) count(key, 1000, 0)
    assert.equal(count('b', 1000, 1).current, 2)
    assert.equal(count('a', 1000, 1).current, 1)
  })
})
