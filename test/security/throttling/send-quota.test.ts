/** Emails are counted when they are sent, so that invented addresses do not exhaust the quota. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase, withoutDrop } from '../../support/database.ts'
import { nextEmail, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { adminToken, newAddress, password, signedIn } from '../../support/users.ts'
import { advanceHours, insertUser, left, postponedUntil, withFullQuotas } from './quota-settings.ts'

const quota = (count: number) => ({ AUTH_RATE_LIMIT_EMAIL_SENT: String(count) })

const signUp = ({ app }: Built, email = newAddress()) => call(app, '/signup', { email, password })

suite('AUTH_RATE_LIMIT_EMAIL_SENT', () => {
  const servers = sharedServers()

  const requests: [path: string, body: object][] = [
    ['/recover', {}],
    ['/resend', { type: 'signup' }],
    ['/resend', { type: 'email_change' }],
  ]
  for (const [path, body] of requests) {
    test(`is not consumed by ${path} ${Object.values(body)} for invented emails`, async () => {
      const server = await withFullQuotas(await servers(quota(3)))
      for (let i = 0; i < 30; i++) {
        const response = await call(server.app, path, { email: newAddress(), ...body })
        assert.equal(response.statusCode, 200, response.body)
      }
      await waitForIdleQueue(server)
      assert.equal(await left(server), undefined)
      assert.equal((await signUp(server)).statusCode, 200)
    })
  }

  test('counts each queued email once, per purpose', async () => {
    const server = await withFullQuotas(await servers(quota(10)))
    const email = await insertUser(server)
    await call(server.app, '/recover', { email })
    await waitForIdleQueue(server)
    assert.equal(await left(server, 'email recovery'), 9)
    await call(server.app, '/magiclink', { email: newAddress() })
    await waitForIdleQueue(server)
    assert.equal(await left(server), 9)
    await signUp(server)
    assert.equal(await left(server), 8)
    await call(server.app, '/magiclink', { email })
    await waitForIdleQueue(server)
    assert.equal(await left(server, 'email sign_in'), 9)
    const { access_token: token } = await signedIn(server.app, email)
    await call(server.app, '/reauthenticate', undefined, { token })
    assert.equal(await left(server, 'email sign_in'), 8)
    const change = { email: newAddress() }
    await call(server.app, '/user', change, { method: 'PUT', token })
    assert.equal(await left(server, 'email email_change'), 8, 'both addresses are emailed')
  })

  test('counts repeated sign-ups like first sign-ups, so that the quota reveals no account', async () => {
    const server = await withFullQuotas(await servers(quota(10)))
    const email = await insertUser(server)
    await signUp(server)
    assert.equal(await left(server), 9)
    await signUp(server, email)
    assert.equal(await left(server), 8)
  })

  test('rejects known and unknown emails identically once exhausted', async () => {
    const server = await withFullQuotas(await servers(quota(1)))
    const known = await insertUser(server)
    assert.equal((await signUp(server)).statusCode, 200)
    for (const path of ['/resend', '/signup']) {
      const responses = []
      for (const email of [known, newAddress()]) {
        const body = { email, password, ...(path === '/resend' && { type: 'signup' }) }
        const { statusCode, headers, body: text } = await call(server.app, path, body)
        responses.push({ statusCode, wait: headers['retry-after'], text })
      }
      assert.equal(responses[0]?.statusCode, 429, path)
      assert.deepEqual({ ...responses[1], wait: '' }, { ...responses[0], wait: '' }, path)
    }
  })

  test('applies a changed limit immediately, including emails already sent', async (t) => {
    const { url, drop } = await cloneDatabase()
    const database = withoutDrop({ url })
    const withLimit = (count: number) => build(t, { env: quota(count), database })
    const server = await withLimit(2)
    for (const status of [200, 200, 429]) assert.equal((await signUp(server)).statusCode, status)

    const steppedUp = await withLimit(4)
    for (const status of [200, 200, 429]) assert.equal((await signUp(steppedUp)).statusCode, status)

    const steppedDown = await withLimit(3)
    assert.equal((await signUp(steppedDown)).statusCode, 429)
    const again = await withLimit(5)
    for (const status of [200, 429]) assert.equal((await signUp(again)).statusCode, status)
    t.after(drop)
  })

  test('neither counts nor limits emails of admins', async () => {
    const server = await withFullQuotas(await servers(quota(1)))
    const token = await adminToken(server.app)
    for (let i = 0; i < 3; i++) {
      const response = await call(server.app, '/invite', { email: newAddress() }, { token })
      assert.equal(response.statusCode, 200, response.body)
    }
    assert.equal((await signUp(server)).statusCode, 200)
    assert.equal((await signUp(server)).statusCode, 429)
    const late = newAddress()
    await call(server.app, '/invite', { email: late }, { token })
    await nextEmail(server, late)
  })

  test('postpones queued requests until it is refilled', async (t) => {
    const [server, users] = await asked(t, quota(1), 2)
    const waiting = await postponedUntil(server)
    assert.ok(waiting > new Date(Date.now() + 60_000), 'not before the hour is over')

    await advanceHours(server)
    const { mail } = server
    for (const email of users) await nextEmail({ mail }, email)
    await waitForIdleQueue(server)
    assert.equal(mail.messages.filter(({ to }) => users.includes(to)).length, 2)
  })

  test('is not exceeded by racing workers', async (t) => {
    const [server] = await asked(t, quota(3), 8)
    await postponedUntil(server, 5)
    const { rows } = await server.app.pool.query('select from auth.postern_mail_messages')
    assert.equal(rows.length, 3)
  })
})

/** Users who have requested emails; the returned server handles the requests. */
async function asked(
  t: TestContext,
  env: Record<string, string>,
  count: number,
): Promise<[Built, string[]]> {
  const first = await build(t, { env })
  await first.app.jobQueue.stop()
  const users: string[] = []
  for (let i = 0; i < count; i++) users.push(await insertUser(first))
  for (const email of users) {
    assert.equal((await call(first.app, '/recover', { email })).statusCode, 200)
  }
  const { DATABASE_URL } = first.config
  return [await build(t, { env: { ...env, DATABASE_URL } }), users]
}
