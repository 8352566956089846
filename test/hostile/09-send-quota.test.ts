/** Row 9: mails are counted when they are sent, so that nobody uses up what others may send. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { idle, nextMail } from '../support/mail-journeys.ts'
import { adminToken, newAddress, password, signedIn } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { insertPerson, left, letHoursPass, putOffUntil } from './send-quota.ts'

const quota = (count: number) => ({ AUTH_RATE_LIMIT_EMAIL_SENT: String(count) })

const signUp = ({ app }: Built, email = newAddress()) => call(app, '/signup', { email, password })

suite('row 9: the quota of mails', () => {
  const asking: [path: string, body: object][] = [
    ['/recover', {}],
    ['/resend', { type: 'signup' }],
    ['/resend', { type: 'email_change' }],
  ]
  for (const [path, body] of asking) {
    test(`is not used up by ${path} ${Object.values(body)} for invented addresses`, async (t) => {
      const server = await build(t, { env: quota(3) })
      for (let i = 0; i < 30; i++) {
        const answer = await call(server.app, path, { email: newAddress(), ...body })
        assert.equal(answer.statusCode, 200, answer.body)
      }
      await idle(server)
      assert.equal(await left(server), undefined)
      assert.equal((await signUp(server)).statusCode, 200)
    })
  }

  test('counts each mail that is queued, once', async (t) => {
    const server = await build(t, { env: quota(10) })
    const email = await insertPerson(server)
    await call(server.app, '/recover', { email })
    await idle(server)
    assert.equal(await left(server), 9)
    await call(server.app, '/magiclink', { email: newAddress() })
    await idle(server)
    assert.equal(await left(server), 8)
    await signUp(server)
    assert.equal(await left(server), 7)
    const { access_token: token } = await signedIn(server.app, email)
    await call(server.app, '/reauthenticate', undefined, { token })
    assert.equal(await left(server), 6)
    const change = { email: newAddress() }
    await call(server.app, '/user', change, { method: 'PUT', token })
    assert.equal(await left(server), 4, 'both mailboxes are asked')
  })

  test('a repeated sign-up counts like a first one, so that the count does not tell', async (t) => {
    const server = await build(t, { env: quota(10) })
    const email = await insertPerson(server)
    await signUp(server)
    assert.equal(await left(server), 9)
    await signUp(server, email)
    assert.equal(await left(server), 8)
  })

  test('once exhausted, refuses requests for known and unknown addresses alike', async (t) => {
    const server = await build(t, { env: quota(1) })
    const known = await insertPerson(server)
    assert.equal((await signUp(server)).statusCode, 200)
    const paths = ['/recover', '/magiclink', '/otp', '/resend', '/signup']
    for (const path of paths) {
      const answers = []
      for (const email of [known, newAddress()]) {
        const body = { email, password, ...(path === '/resend' && { type: 'signup' }) }
        const { statusCode, headers, body: text } = await call(server.app, path, body)
        answers.push({ statusCode, wait: headers['retry-after'], text })
      }
      assert.equal(answers[0]?.statusCode, 429, path)
      assert.deepEqual({ ...answers[1], wait: '' }, { ...answers[0], wait: '' }, path)
    }
  })

  test('a limit that was changed holds at once, for what was sent already, too', async (t) => {
    const { url, drop } = await cloneDatabase()
    const database = { url, drop: async () => {} }
    const withLimit = (count: number) => build(t, { env: quota(count), database })
    const server = await withLimit(2)
    for (const status of [200, 200, 429]) assert.equal((await signUp(server)).statusCode, status)

    const raised = await withLimit(4)
    const asked = await call(raised.app, '/recover', { email: newAddress() })
    assert.equal(asked.statusCode, 200, asked.body)
    for (const status of [200, 200, 429]) assert.equal((await signUp(raised)).statusCode, status)

    const lowered = await withLimit(3)
    assert.equal((await signUp(lowered)).statusCode, 429)
    assert.equal((await call(lowered.app, '/recover', { email: newAddress() })).statusCode, 429)
    const again = await withLimit(5)
    for (const status of [200, 429]) assert.equal((await signUp(again)).statusCode, status)
    t.after(drop)
  })

  test('does not count what admins send, and does not stop it', async (t) => {
    const server = await build(t, { env: quota(1) })
    const token = await adminToken(server.app)
    for (let i = 0; i < 3; i++) {
      const answer = await call(server.app, '/invite', { email: newAddress() }, { token })
      assert.equal(answer.statusCode, 200, answer.body)
    }
    assert.equal((await signUp(server)).statusCode, 200)
    assert.equal((await signUp(server)).statusCode, 429)
    const late = newAddress()
    await call(server.app, '/invite', { email: late }, { token })
    await nextMail(server, late)
  })

  test('what finds it exhausted in the queue is sent when it is filled again', async (t) => {
    const [server, people] = await asked(t, quota(1), 2)
    const waiting = await putOffUntil(server)
    assert.ok(waiting > new Date(Date.now() + 60_000), 'not before the hour is over')

    await letHoursPass(server)
    const { mail } = server
    for (const email of people) await nextMail({ mail }, email)
    await idle(server)
    assert.equal(mail.messages.filter(({ to }) => people.includes(to)).length, 2)
  })

  test('racing workers do not send more than it allows', async (t) => {
    const [server] = await asked(t, quota(3), 8)
    await putOffUntil(server, 5)
    const { rows } = await server.app.pool.query('select from auth.postern_mail_messages')
    assert.equal(rows.length, 3)
  })
})

/** So many people have asked for a mail, and what they asked for is done by the server that is returned. */
async function asked(
  t: TestContext,
  env: Record<string, string>,
  count: number,
): Promise<[Built, string[]]> {
  const first = await build(t, { env })
  await first.app.jobQueue.stop()
  const people: string[] = []
  for (let i = 0; i < count; i++) people.push(await insertPerson(first))
  for (const email of people) {
    assert.equal((await call(first.app, '/recover', { email })).statusCode, 200)
  }
  const { DATABASE_URL } = first.config
  return [await build(t, { env: { ...env, DATABASE_URL } }), people]
}
