import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addressKey } from '../../../plugins/http/rate-limits/index.ts'
import { createLocalCounter } from '../../../plugins/http/rate-limits/local-counter.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { type App, build } from '../../support/server.ts'

interface Description {
  paths: Record<string, { post?: { security?: object[] } }>
}

const byHeader = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP' }

interface Requester {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  payload?: object
}

const signIn: Requester = {
  method: 'POST',
  url: '/token?grant_type=password',
  payload: { email: 'nobody@example.com', password: 'wrong password' },
}
const anonymous: Requester = { method: 'POST', url: '/signup', payload: {} }
const signUp: Requester = { method: 'POST', url: '/signup', payload: { email: 'x', password: '1' } }
const signUpByNumber: Requester = {
  method: 'POST',
  url: '/signup',
  payload: { phone: 'x', password: '1' },
}
const code: Requester = {
  method: 'POST',
  url: '/verify',
  payload: { type: 'email', email: 'nobody@example.com', token: '123456' },
}
const link: Requester = { method: 'GET', url: '/verify?type=signup&token=abc' }
const authorize: Requester = { method: 'GET', url: '/authorize?provider=github' }
const callback: Requester = { method: 'GET', url: '/callback?state=x' }
const postedCallback: Requester = { method: 'POST', url: '/callback?state=x' }
const introspection: Requester = { method: 'POST', url: '/oauth/introspect', payload: {} }
const userinfo: Requester = { method: 'GET', url: '/oauth/userinfo' }
const postedUserinfo: Requester = { method: 'POST', url: '/oauth/userinfo', payload: {} }
const consoleSession: Requester = { method: 'GET', url: '/console/session' }
const scim: Requester = { method: 'GET', url: `/scim/v2/${crypto.randomUUID()}/Users` }
const passkey: Requester = { method: 'POST', url: '/passkeys/authentication/verify', payload: {} }

async function statuses(
  app: App,
  requested: Requester,
  times: number,
  headers: Record<string, string>,
) {
  const found: number[] = []
  for (let i = 0; i < times; i++) {
    found.push((await app.inject({ ...requested, headers })).statusCode)
  }
  return found.map((status) => status === 429)
}

/** Different ones, so that a count of accepted requests shows which of them applies. */
const limits = {
  AUTH_RATE_LIMIT_TOKEN_REFRESH: 1,
  AUTH_RATE_LIMIT_VERIFY: 2,
  AUTH_RATE_LIMIT_OTP: 3,
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: 4,
  AUTH_RATE_LIMIT_AUTHORIZE: 5,
  AUTH_RATE_LIMIT_PASSKEY: 6,
  AUTH_RATE_LIMIT_OAUTH_RESOURCE: 7,
  AUTH_RATE_LIMIT_CONSOLE: 8,
  AUTH_RATE_LIMIT_SCIM: 9,
}

/** The first requests of a client, one more than its limit. */
const untilLimited = (limit: number) => [...Array<boolean>(limit).fill(false), true]

let clients = 0

function newClient(): Record<string, string> {
  clients += 1
  return { 'x-real-ip': `203.0.113.${clients}` }
}

suite('rate limits by client address', () => {
  const servers = sharedServers()
  const server = () =>
    servers({
      ...byHeader,
      ...passkeysOn,
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_CONSOLE_ENABLED: 'true',
      AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
      ...Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, String(limit)])),
    })

  const limited: [string, Requester, keyof typeof limits][] = [
    ['POST /token', signIn, 'AUTH_RATE_LIMIT_TOKEN_REFRESH'],
    ['POST /verify', code, 'AUTH_RATE_LIMIT_VERIFY'],
    ['GET /verify', link, 'AUTH_RATE_LIMIT_VERIFY'],
    ['POST /signup', signUp, 'AUTH_RATE_LIMIT_OTP'],
    ['POST /signup with a number', signUpByNumber, 'AUTH_RATE_LIMIT_OTP'],
    ['anonymous POST /signup', anonymous, 'AUTH_RATE_LIMIT_ANONYMOUS_USERS'],
    ['GET /authorize', authorize, 'AUTH_RATE_LIMIT_AUTHORIZE'],
    ['GET /callback', callback, 'AUTH_RATE_LIMIT_AUTHORIZE'],
    ['POST /callback', postedCallback, 'AUTH_RATE_LIMIT_AUTHORIZE'],
    ['POST /oauth/introspect', introspection, 'AUTH_RATE_LIMIT_OAUTH_RESOURCE'],
    ['GET /oauth/userinfo', userinfo, 'AUTH_RATE_LIMIT_OAUTH_RESOURCE'],
    ['POST /oauth/userinfo', postedUserinfo, 'AUTH_RATE_LIMIT_OAUTH_RESOURCE'],
    ['GET /console/session', consoleSession, 'AUTH_RATE_LIMIT_CONSOLE'],
    ['/scim', scim, 'AUTH_RATE_LIMIT_SCIM'],
    ['POST /passkeys/authentication/verify', passkey, 'AUTH_RATE_LIMIT_PASSKEY'],
  ]
  for (const [name, requested, variable] of limited) {
    test(`${name} has its own limit`, async () => {
      const { app } = await server()
      const limit = limits[variable]
      const first = await statuses(app, requested, limit + 1, newClient())
      assert.deepEqual(first, untilLimited(limit))
      assert.deepEqual(await statuses(app, requested, 1, newClient()), [false])
    })
  }

  test('each public POST endpoint has a limit', async () => {
    const { app } = await server()
    const { paths } = (await app.inject('/openapi.json')).json<Description>()
    const open = app.openapi.routes.filter(({ method, url }) => {
      const described = paths[url]?.post
      const isOpen = (described?.security ?? []).length === 0
      return method === 'POST' && described !== undefined && isOpen
    })
    assert.ok(open.length >= 8, open.map(({ url }) => url).join())
    const unlimited = open.filter(({ config }) => !config?.rateLimit).map(({ url }) => url)
    assert.deepEqual(unlimited, [])
  })

  test('counts codes and links of /verify together', async () => {
    const { app } = await server()
    const headers = newClient()
    assert.deepEqual(await statuses(app, link, 2, headers), [false, false])
    assert.deepEqual(await statuses(app, code, 1, headers), [true])
  })

  test('counts anonymous and other sign-ups separately', async () => {
    const { app } = await server()
    const headers = newClient()
    assert.deepEqual(await statuses(app, anonymous, 4, headers), Array(4).fill(false))
    assert.deepEqual(await statuses(app, signUp, 4, headers), untilLimited(3))
    assert.deepEqual(await statuses(app, anonymous, 1, headers), [true])
  })

  test('counts anonymous sign-ups per hour', async () => {
    const { app } = await server()
    const headers = newClient()
    for (let i = 0; i < 4; i++) await app.inject({ ...anonymous, headers })
    const wait = Number((await app.inject({ ...anonymous, headers })).headers['retry-after'])
    assert.ok(wait > 3590 && wait <= 3600, `waits ${wait}`)
  })

  test('returns Retry-After in both error formats', async () => {
    const { app } = await server()
    const headers = newClient()
    await app.inject({ ...signIn, headers })
    const response = await app.inject({ ...signIn, headers })
    const { error_code, code } = response.json()
    assert.deepEqual({ error_code, code }, { error_code: 'over_request_rate_limit', code: 429 })
    assert.equal(response.headers['x-ratelimit-limit'], '1')
    assert.equal(response.headers['x-ratelimit-remaining'], '0')
    const wait = Number(response.headers['retry-after'])
    assert.ok(wait > 290 && wait <= 300, `waits ${wait}`)
    assert.equal(Number(response.headers['x-ratelimit-reset']), wait)
    const named = { ...headers, 'x-supabase-api-version': '2024-01-01' }
    const second = await app.inject({ ...signIn, headers: named })
    assert.equal(second.json().code, 'over_request_rate_limit')
  })

  test('resets after the window', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { app } = await build(t, { env: { ...byHeader, AUTH_RATE_LIMIT_VERIFY: '1' } })
    const headers = { 'x-real-ip': '203.0.113.7' }
    assert.deepEqual(await statuses(app, link, 2, headers), [false, true])
    t.mock.timers.tick(300_001)
    assert.deepEqual(await statuses(app, link, 2, headers), [false, true])
  })
})

/** Its tests share servers, so each case has addresses of its own. */
suite('client address of rate limits', () => {
  const server = sharedServers()
  const env = { AUTH_RATE_LIMIT_VERIFY: '1' }
  const forwarded = { ...env, AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true' }
  const cases: [string, Record<string, string>, Record<string, string>[], boolean[]][] = [
    ['no header configured: no limit', env, [{}, {}], [false, false]],
    [
      'no header configured: ignores forwarded headers',
      env,
      [{ 'x-forwarded-for': '203.0.113.7' }, { 'x-forwarded-for': '203.0.113.7' }],
      [false, false],
    ],
    ['missing header: no limit', { ...env, ...byHeader }, [{}, {}], [false, false]],
    [
      'counts by the first entry of the header',
      { ...env, ...byHeader },
      [{ 'x-real-ip': '203.0.113.1, 10.0.0.1' }, { 'x-real-ip': '203.0.113.1, 10.0.0.2' }],
      [false, true],
    ],
    [
      'counts by the first entry also when it is not an address',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': 'office-7, 203.0.113.7' },
        { 'x-real-ip': 'office-7, 203.0.113.8' },
        { 'x-real-ip': 'office-8, 203.0.113.7' },
      ],
      [false, true, false],
    ],
    [
      'counts by the beginning of an oversized entry',
      { ...env, ...byHeader },
      ['1', '2'].map((end) => ({ 'x-real-ip': `${'x'.repeat(100)}${end}` })),
      [false, true],
    ],
    [
      'ignores the port of an entry',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': '203.0.113.2:40001' },
        { 'x-real-ip': '203.0.113.2:40002' },
        { 'x-real-ip': '[2001:db8:1:1::1]:40001' },
        { 'x-real-ip': '[2001:db8:1:1::2%eth0]:40002' },
      ],
      [false, true, false, true],
    ],
    [
      'counts an IPv6 /64 network as one client',
      { ...env, ...byHeader },
      [{ 'x-real-ip': '2001:db8:1:2::1' }, { 'x-real-ip': '2001:db8:1:2:ffff::2' }],
      [false, true],
    ],
    [
      'counts by Proxy-Forwarded-For when trusted',
      forwarded,
      [{ 'proxy-forwarded-for': '203.0.113.7' }, { 'proxy-forwarded-for': '203.0.113.7' }],
      [false, true],
    ],
    [
      'ignores other headers next to the trusted one',
      forwarded,
      [
        { 'proxy-forwarded-for': '203.0.113.8', 'x-forwarded-for': '198.51.100.1' },
        { 'proxy-forwarded-for': '203.0.113.8', 'x-forwarded-for': '198.51.100.2' },
      ],
      [false, true],
    ],
    [
      'ignores Proxy-Forwarded-For unless trusted',
      { ...env, ...byHeader },
      [
        { 'x-real-ip': '203.0.113.3', 'proxy-forwarded-for': '198.51.100.1' },
        { 'x-real-ip': '203.0.113.3', 'proxy-forwarded-for': '198.51.100.2' },
      ],
      [false, true],
    ],
  ]
  for (const [name, settings, requests, rejected] of cases) {
    test(name, async () => {
      const { app } = await server(settings)
      const found = []
      for (const headers of requests) found.push(...(await statuses(app, link, 1, headers)))
      assert.deepEqual(found, rejected)
    })
  }

  test('counts another spelling of the path as the same path', async () => {
    const { app } = await server({ ...env, ...byHeader })
    const headers = { 'x-real-ip': '203.0.113.4' }
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
    test(`counts ${address} as ${key}`, () => assert.equal(addressKey(address), key))
  }
})

suite('Retry-After of 429 responses', () => {
  test('is set for an account with too many wrong passwords', async (t) => {
    const { app } = await build(t)
    let response = await app.inject(signIn)
    for (let i = 0; i < 10 && response.statusCode !== 429; i++) response = await app.inject(signIn)
    assert.equal(response.statusCode, 429)
    for (const name of ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-reset']) {
      assert.ok(Number(response.headers[name]) >= 1, name)
    }
    assert.equal(response.headers['x-ratelimit-remaining'], '0')
  })
})

suite('in-memory counter', () => {
  test('keeps a window per key', () => {
    const count = createLocalCounter(10)
    assert.deepEqual(count('a', 1000, 0), { current: 1, ttl: 1000 })
    assert.deepEqual(count('a', 1000, 400), { current: 2, ttl: 600 })
    assert.deepEqual(count('b', 1000, 400), { current: 1, ttl: 1000 })
    assert.deepEqual(count('a', 1000, 1000), { current: 1, ttl: 1000 })
  })

  test('is limited in size and evicts the oldest key', () => {
    const count = createLocalCounter(3)
    for (const key of ['a', 'b', 'c', 'd']) count(key, 1000, 0)
    assert.equal(count('b', 1000, 1).current, 2)
    assert.equal(count('a', 1000, 1).current, 1)
  })
})
