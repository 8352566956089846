/** What the log says of requests that were refused or could not be served, and to which request each line belongs. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { version } from '../../version.ts'
import { cloneDatabase } from '../support/database.ts'
import { newAddress, newPerson, password, signIn } from '../support/people.ts'
import { call, refresh } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

interface Line {
  level: string
  msg: string
  reqId?: string
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

suite('lines of a refusal', () => {
  test('a failed sign-in names how, why, and from where; neither password nor address of the person', async (t) => {
    const { app, texts, lines } = await logged(t)
    const { email } = await newPerson(app)
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const answer = await signIn(app, { email, password: `not ${password}` }, from)
    const [refused, ...more] = lines().filter(({ sign_in }) => sign_in !== undefined)
    assert.equal(more.length, 0)
    assert.deepEqual(
      [refused?.sign_in, refused?.error_code, refused?.ip, refused?.reqId],
      ['password', 'invalid_credentials', '203.0.113.9', answer.headers['x-request-id']],
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
    ['a grant of no kind', '/token?grant_type=x%0Ay', {}, ['unknown', 'invalid_credentials']],
  ]
  for (const [name, url, body, expected] of others) {
    test(`${name} does too`, async (t) => {
      const { app, lines } = await logged(t)
      await call(app, url, body)
      const refused = lines().find(({ sign_in }) => sign_in !== undefined)
      assert.deepEqual([refused?.sign_in, refused?.error_code], expected)
      assert.equal(refused?.ip, '127.0.0.1')
    })
  }

  test('a body that cannot be read has the id of its request', async (t) => {
    const { app, lines } = await logged(t)
    const headers = { 'content-type': 'application/json' }
    const url = '/token?grant_type=password'
    const answer = await app.inject({ method: 'POST', url, headers, payload: '{' })
    const refused = lines().find(({ error_code }) => error_code === 'bad_json')
    assert.equal(refused?.reqId, answer.headers['x-request-id'])
  })

  test('a 429 names the address', async (t) => {
    const { app, lines } = await logged(t, { ...proxy, AUTH_RATE_LIMIT_OTP: '1' })
    const headers = { 'x-real-ip': '203.0.113.7', 'x-forwarded-for': '203.0.113.7' }
    for (let i = 0; i < 2; i++) await call(app, '/recover', { email: newAddress() }, { headers })
    const refused = lines().filter(({ error_code }) => error_code === 'over_request_rate_limit')
    assert.deepEqual(
      refused.map(({ ip, sign_in }) => [ip, sign_in]),
      [['203.0.113.7', undefined]],
    )
  })
})

suite('which request a line belongs to', () => {
  test('the audit trail carries it, and level and version are names', async (t) => {
    const { app, lines } = await logged(t)
    const { email } = await newPerson(app)
    const before = lines().length
    const answers = await Promise.all([signIn(app, { email }), signIn(app, { email })])
    const audited = lines()
      .slice(before)
      .filter(({ audit }) => audit?.action === 'login')
    assert.deepEqual(
      audited.map(({ reqId }) => reqId).sort(),
      answers.map(({ headers }) => headers['x-request-id']).sort(),
    )
    for (const line of lines()) {
      assert.equal(line.version, version)
      assert.match(line.level, /^(debug|info|warn|error)$/)
    }
  })

  test('a line of a request has its id once', async (t) => {
    const { app, texts } = await logged(t)
    const { refresh_token } = await newPerson(app)
    await refresh(app, refresh_token)
    await refresh(app, 'abcdefghijkl')
    for (const text of texts) assert.ok(text.split('"reqId"').length <= 2, text)
  })

  test('a job has an id of its own', async (t) => {
    const { app, mail, lines } = await logged(t)
    const { user } = await newPerson(app)
    await call(app, '/recover', { email: user.email })
    await mail.waitFor(user.email)
    await app.close()
    const sent = lines().find(({ msg }) => msg === 'a mail was accepted')
    assert.equal(sent?.task, 'send_mail')
    assert.match(sent?.job ?? '', /^\d+$/)
    assert.equal(sent?.reqId, undefined)
  })
})

suite('lines that are kept few', () => {
  test('without AUTH_LOG_HEALTH_CHECKS nobody hears of checks that went well', async (t) => {
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

  test('with it, as by default, somebody does', async (t) => {
    const { app, lines } = await logged(t)
    await app.inject('/health')
    assert.ok(lines().some(({ route }) => route === '/health'))
  })

  test('a 503 is one line that says why; its stack is one of level debug', async (t) => {
    const database = await cloneDatabase()
    const proxy = await startTcpProxy(database.url)
    const { app, lines } = await logged(t, { DATABASE_URL: proxy.url })
    t.after(async () => {
      await proxy.stop()
      await database.drop()
    })
    proxy.cut()
    const answer = await signIn(app, { email: newAddress() })
    assert.equal(answer.statusCode, 503)
    const own = lines().filter(({ reqId }) => reqId === answer.headers['x-request-id'])
    const [line, ...more] = own.filter(({ level }) => level !== 'debug')
    assert.deepEqual(more, [])
    assert.deepEqual([line?.level, line?.status, line?.route], ['error', 503, '/token'])
    assert.equal(line?.error_code, 'service_unavailable')
    assert.match(line?.reason ?? '', /terminated|ECONN/)
    assert.equal(line?.err, undefined)
    assert.ok(own.some(({ level, err }) => level === 'debug' && err?.stack?.includes('\n')))
  })
})
