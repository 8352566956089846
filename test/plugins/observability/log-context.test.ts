/** Log lines of rejected and failed requests, and their request ids. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { version } from '../../../version.ts'
import { cloneDatabase } from '../../support/database.ts'
import { startTcpProxy } from '../../support/processes/tcp-proxy.ts'
import { call, refresh } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { newAddress, password, signIn, signUpUser } from '../../support/users.ts'

interface Line {
  level: string
  msg: string
  request_id?: string
  ip?: string
  error_code?: string
  sign_in?: string
  route?: string
  status?: number
  reason?: string
  version: string
  audit?: { action: string }
  err?: { stack?: string }
  task?: string
  job?: string
}

async function logged(t: TestContext, env: Record<string, string> = {}) {
  const texts: string[] = []
  const built = await build(t, { lines: texts, env: { AUTH_MAILER_AUTOCONFIRM: 'true', ...env } })
  const lines = (): Line[] => texts.map((text) => JSON.parse(text))
  return { ...built, texts, lines }
}

const proxy = { AUTH_RATE_LIMIT_HEADER: 'x-real-ip', AUTH_TRUSTED_PROXIES: '127.0.0.0/8' }

suite('log line of a rejected request', () => {
  test('names method, reason and address of a failed sign-in, without password and email', async (t) => {
    const { app, texts, lines } = await logged(t)
    const { email } = await signUpUser(app)
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const response = await signIn(app, { email, password: `not ${password}` }, from)
    const [rejected, ...more] = lines().filter(({ sign_in }) => sign_in !== undefined)
    assert.equal(more.length, 0)
    assert.deepEqual(
      [rejected?.sign_in, rejected?.error_code, rejected?.ip, rejected?.request_id],
      ['password', 'invalid_credentials', '203.0.113.9', response.headers['x-request-id']],
    )
    assert.ok(!texts.join('').includes(password))
    assert.ok(!texts.join('').includes(email))
  })

  const others: [name: string, url: string, body: object, expected: [string, string]][] = [
    [
      'a wrong code',
      '/verify',
      { type: 'email', email: newAddress(), token: '000000' },
      ['otp', 'otp_expired'],
    ],
    [
      'an unknown refresh token',
      '/token?grant_type=refresh_token',
      { refresh_token: 'abcdefghijkl' },
      ['refresh_token', 'refresh_token_not_found'],
    ],
    ['an unknown grant', '/token?grant_type=x%0Ay', {}, ['unknown', 'invalid_credentials']],
  ]
  for (const [name, url, body, expected] of others) {
    test(`names the failed sign-in with ${name}`, async (t) => {
      const { app, lines } = await logged(t)
      await call(app, url, body)
      const rejected = lines().find(({ sign_in }) => sign_in !== undefined)
      assert.deepEqual([rejected?.sign_in, rejected?.error_code], expected)
      assert.equal(rejected?.ip, '127.0.0.1')
    })
  }

  test('has the request id for a malformed body', async (t) => {
    const { app, lines } = await logged(t)
    const headers = { 'content-type': 'application/json' }
    const url = '/token?grant_type=password'
    const response = await app.inject({ method: 'POST', url, headers, payload: '{' })
    const rejected = lines().find(({ error_code }) => error_code === 'bad_json')
    assert.equal(rejected?.request_id, response.headers['x-request-id'])
  })

  test('has the client address of a 429 response', async (t) => {
    const { app, lines } = await logged(t, { ...proxy, AUTH_RATE_LIMIT_OTP: '1' })
    const headers = { 'x-real-ip': '203.0.113.7', 'x-forwarded-for': '203.0.113.7' }
    for (let i = 0; i < 2; i++) await call(app, '/recover', { email: newAddress() }, { headers })
    const rejected = lines().filter(({ error_code }) => error_code === 'over_request_rate_limit')
    assert.deepEqual(
      rejected.map(({ ip, sign_in }) => [ip, sign_in]),
      [['203.0.113.7', undefined]],
    )
  })
})

suite('request id of log lines', () => {
  test('is in audit log lines, next to a named level and the version', async (t) => {
    const { app, lines } = await logged(t)
    const { email } = await signUpUser(app)
    const before = lines().length
    const responses = await Promise.all([signIn(app, { email }), signIn(app, { email })])
    const audited = lines()
      .slice(before)
      .filter(({ audit }) => audit?.action === 'login')
    assert.deepEqual(
      audited.map(({ request_id }) => request_id).sort(),
      responses.map(({ headers }) => headers['x-request-id']).sort(),
    )
    for (const line of lines()) {
      assert.equal(line.version, version)
      assert.match(line.level, /^(debug|info|warn|error)$/)
    }
  })

  test('appears once per line', async (t) => {
    const { app, texts } = await logged(t)
    const { refresh_token } = await signUpUser(app)
    await refresh(app, refresh_token)
    await refresh(app, 'abcdefghijkl')
    for (const text of texts) assert.ok(text.split('"request_id"').length <= 2, text)
  })

  test('is replaced by a job id in jobs', async (t) => {
    const { app, mail, lines } = await logged(t)
    const { user } = await signUpUser(app)
    await call(app, '/recover', { email: user.email })
    await mail.waitFor(user.email)
    await app.close()
    const sent = lines().find(({ msg }) => msg === 'email sent')
    assert.equal(sent?.task, 'send_mail')
    assert.match(sent?.job ?? '', /^\d+$/)
    assert.equal(sent?.request_id, undefined)
  })
})

suite('reduced log lines', () => {
  test('AUTH_LOG_HEALTH_CHECKS=false: omits successful health checks', async (t) => {
    const { app, lines } = await logged(t, { AUTH_LOG_HEALTH_CHECKS: 'false' })
    await app.inject('/health')
    await app.inject('/ready')
    await app.inject('/settings')
    const routes = () => lines().flatMap(({ route }) => route ?? [])
    assert.deepEqual(routes(), ['/settings'])
    void app.readiness.leave(0)
    assert.equal((await app.inject('/ready')).statusCode, 503)
    assert.deepEqual(routes(), ['/settings', '/ready'])
  })

  test('logs health checks by default', async (t) => {
    const { app, lines } = await logged(t)
    await app.inject('/health')
    assert.ok(lines().some(({ route }) => route === '/health'))
  })

  test('logs a 503 as one error line, with the stack at level debug', async (t) => {
    const database = await cloneDatabase()
    const proxy = await startTcpProxy(database.url)
    const { app, lines } = await logged(t, { DATABASE_URL: proxy.url })
    t.after(async () => {
      await proxy.stop()
      await database.drop()
    })
    proxy.cut()
    const response = await signIn(app, { email: newAddress() })
    assert.equal(response.statusCode, 503)
    const own = lines().filter(({ request_id }) => request_id === response.headers['x-request-id'])
    const [line, ...more] = own.filter(({ level }) => level !== 'debug')
    assert.deepEqual(more, [])
    assert.deepEqual([line?.level, line?.status, line?.route], ['error', 503, '/token'])
    assert.equal(line?.error_code, 'service_unavailable')
    assert.match(line?.reason ?? '', /terminated|ECONN/)
    assert.equal(line?.err, undefined)
    assert.ok(own.some(({ level, err }) => level === 'debug' && err?.stack?.includes('\n')))
  })
})
