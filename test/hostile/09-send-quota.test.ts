/** Row 9: what is sent is counted when it is sent, and a repeat keeps nobody from signing up. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { idle, nextMail } from '../support/mail-journeys.ts'
import { adminToken, newAddress, newNumber, password, phonePerson } from '../support/people.ts'
import { buildWithSms, type PhoneServer } from '../support/phone-journeys.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { until } from '../support/until.ts'

const quota = (count: number) => ({ AUTH_RATE_LIMIT_EMAIL_SENT: String(count) })

const signUp = ({ app }: Built, email = newAddress()) => call(app, '/signup', { email, password })

/** People who are there without a mail having been sent. */
async function insertPerson({ app }: Built, confirmed = true): Promise<string> {
  const email = newAddress()
  const token = await adminToken(app)
  const body = { email, password, email_confirm: confirmed }
  assert.equal((await call(app, '/admin/users', body, { token })).statusCode, 200)
  return email
}

async function left({ app }: Pick<Built, 'app'>, channel = 'email'): Promise<number | undefined> {
  const row = await app.db
    .selectFrom('postern_send_quotas')
    .select('tokens')
    .where('channel', '=', channel)
    .executeTakeFirst()
  return row?.tokens
}

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
    const signedIn = await call(server.app, '/token?grant_type=password', { email, password })
    const { access_token: token } = signedIn.json()
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
    const waiting = await jobThatWaits(server)
    assert.ok(waiting > new Date(Date.now() + 60_000), 'not before the hour is over')

    const { app, config, mail } = server
    await app.pool.query(`update auth.postern_send_quotas set refilled_at = now() - interval '2h'`)
    await app.pool.query(
      `update ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs set run_at = now()
        where payload ->> 'request' is not null`,
    )
    await app.jobQueue.enqueue(app.db, 'clean_up', {})
    for (const email of people) await nextMail({ mail }, email)
    await idle(server)
    assert.equal(mail.messages.filter(({ to }) => people.includes(to)).length, 2)
  })

  test('racing workers do not send more than it allows', async (t) => {
    const [server] = await asked(t, quota(3), 8)
    await jobThatWaits(server, 5)
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

/** The time of the jobs that were put off, when there are so many. */
async function jobThatWaits({ app, config }: Built, count = 1): Promise<Date> {
  const jobs = `select run_at from ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs
    where payload ->> 'request' is not null and run_at > now() + interval '1 minute'
      and (select count(*) from ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs
        where payload ->> 'request' is not null and run_at < now() + interval '1 minute') = 0`
  return until(
    async () => {
      const { rows } = await app.pool.query<{ run_at: Date }>(jobs)
      return rows.length === count && rows[0]?.run_at
    },
    { everyMs: 20, missing: 'no job was put off' },
  )
}

suite('row 9: signing up and asking for a repeat', () => {
  const servers = sharedServers()
  const env = { AUTH_SMTP_MAX_FREQUENCY: '60' }
  const resend = ({ app }: Built, email: string) => call(app, '/resend', { type: 'signup', email })

  const orders: [string, string[], number[]][] = [
    ['a repeat does not stop a sign-up', ['resend', 'signup'], [200, 200]],
    ['a sign-up stops a repeat', ['signup', 'resend'], [200, 429]],
    ['a sign-up stops a sign-up', ['signup', 'signup'], [200, 429]],
    ['a repeat stops a repeat', ['resend', 'resend'], [200, 429]],
    ['a repeat waits for the later one', ['resend', 'signup', 'resend'], [200, 200, 429]],
  ]
  for (const [name, order, expected] of orders) {
    for (const who of ['unknown', 'unconfirmed', 'confirmed']) {
      test(`${name}: ${who} address`, async () => {
        const server = await servers(env)
        const isKnown = who !== 'unknown'
        const email = isKnown ? await insertPerson(server, who === 'confirmed') : newAddress()
        const statuses = []
        for (const step of order) {
          const answer = await (step === 'signup' ? signUp(server, email) : resend(server, email))
          statuses.push(answer.statusCode)
        }
        assert.deepEqual(statuses, expected)
      })
    }
  }

  test('the wait of a repeat is the longer one', async (t) => {
    const server = await servers(env)
    const email = newAddress()
    const start = Date.now()
    await resend(server, email)
    t.mock.timers.enable({ apis: ['Date'], now: start + 40_000 })
    await signUp(server, email)
    assert.equal((await resend(server, email)).headers['retry-after'], '60')
    t.mock.timers.setTime(start + 70_000)
    assert.equal((await resend(server, email)).headers['retry-after'], '30')
    t.mock.timers.setTime(start + 101_000)
    assert.equal((await resend(server, email)).statusCode, 200)
  })

  test('a number that was asked about once more may sign up', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const phone = newNumber()
    const steps: [string, object][] = [
      ['/resend', { type: 'sms', phone }],
      ['/signup', { phone, password }],
      ['/resend', { type: 'sms', phone }],
      ['/otp', { phone }],
    ]
    const statuses = []
    for (const [path, body] of steps) statuses.push((await call(server.app, path, body)).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })
})

suite('row 9: another address and a repeat of asking for it', () => {
  test('a stranger who asks for a repeat does not stop the change, by mail', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    const email = await insertPerson(server)
    const signedIn = await call(server.app, '/token?grant_type=password', { email, password })
    const { access_token: token } = signedIn.json()
    const repeat = () => call(server.app, '/resend', { type: 'email_change', email })
    const change = () =>
      call(server.app, '/user', { email: newAddress() }, { method: 'PUT', token })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })

  test('nor by text message', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const { access_token: token, user } = await phonePerson(server)
    const { phone } = user
    const repeat = () => call(server.app, '/resend', { type: 'phone_change', phone })
    const change = () => call(server.app, '/user', { phone: newNumber() }, { method: 'PUT', token })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })
})

suite('a repeat for somebody who has just asked for another address', () => {
  test('by mail: is answered as for nobody, and comes when it may', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '3' } })
    const email = await insertPerson(server)
    const signedIn = await call(server.app, '/token?grant_type=password', { email, password })
    const { access_token: token } = signedIn.json()
    const wanted = newAddress()
    const started = Date.now()
    await call(server.app, '/user', { email: wanted }, { method: 'PUT', token })
    const toWanted = () => server.mail.messages.filter(({ to }) => to === wanted).length
    await until(() => toWanted() === 1)

    for (const address of [email, newAddress()]) {
      const answer = await call(server.app, '/resend', { type: 'email_change', email: address })
      assert.equal(answer.statusCode, 200, answer.body)
    }

    await until(() => toWanted() === 2)
    assert.ok(Date.now() - started >= 3000)
  })

  test('by text message, alike', async (t) => {
    const server = await buildWithSms(t, {
      env: { AUTH_SMS_MAX_FREQUENCY: '3', AUTH_SMS_OTP_EXP: '60' },
    })
    const { access_token: token, user } = await phonePerson(server)
    const wanted = newNumber()
    const started = Date.now()
    await call(server.app, '/user', { phone: wanted }, { method: 'PUT', token })
    const since = server.sms.messages.length

    for (const phone of [user.phone, newNumber()]) {
      const answer = await call(server.app, '/resend', { type: 'phone_change', phone })
      assert.equal(answer.statusCode, 200, answer.body)
    }

    await server.sms.code(wanted, since)
    assert.ok(Date.now() - started >= 3000)
  })
})

suite('row 9: the quota of text messages', () => {
  const env = { AUTH_RATE_LIMIT_SMS_SENT: '2' }
  const answered = async (server: PhoneServer, path: string, body: object) =>
    (await call(server.app, path, body)).statusCode

  test('is not used up by repeats for invented numbers', async (t) => {
    const server = await buildWithSms(t, { env })
    for (let i = 0; i < 10; i++) {
      assert.equal(await answered(server, '/resend', { type: 'sms', phone: newNumber() }), 200)
    }
    await textsDone(server)
    assert.equal(await left(server, 'sms'), undefined)
    assert.equal(await answered(server, '/signup', { phone: newNumber(), password }), 200)
  })

  test('a repeated sign-up counts like a first one, so that the count does not tell', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_RATE_LIMIT_SMS_SENT: '10' } })
    const { user } = await phonePerson(server)
    assert.equal(await left(server, 'sms'), 9)
    assert.equal(await answered(server, '/signup', { phone: user.phone, password }), 200)
    assert.equal(await left(server, 'sms'), 8)
  })

  test('is not used up by strangers, to whom nothing is sent while nobody may sign up', async (t) => {
    const server = await buildWithSms(t, { env: { ...env, AUTH_DISABLE_SIGNUP: 'true' } })
    for (let i = 0; i < 3; i++) {
      assert.equal(await answered(server, '/otp', { phone: newNumber() }), 200)
    }
    assert.equal(await left(server, 'sms'), undefined)
  })

  test('once exhausted, refuses requests for known and unknown numbers alike', async (t) => {
    const server = await buildWithSms(t, { env })
    const known = newNumber()
    assert.equal(await answered(server, '/signup', { phone: known, password }), 200)
    assert.equal(await answered(server, '/otp', { phone: newNumber() }), 200)
    for (const phone of [known, newNumber()]) {
      assert.equal(await answered(server, '/resend', { type: 'sms', phone }), 429)
      assert.equal(await answered(server, '/otp', { phone }), 429)
      assert.equal(await answered(server, '/signup', { phone, password }), 429)
    }
  })

  test('what finds it exhausted in the queue is sent when it is filled again', async (t) => {
    const first = await buildWithSms(t, { env })
    const { sms, config } = first
    const people = [newNumber(), newNumber()]
    for (const phone of people) await call(first.app, '/signup', { phone, password })
    await first.app.jobQueue.stop()
    await first.app.pool.query(`update auth.postern_send_quotas set tokens = 1`)
    const since = sms.messages.length
    for (const phone of people) await call(first.app, '/resend', { type: 'sms', phone })
    const { DATABASE_URL } = config
    const server = await build(t, { env: { ...sms.env, ...env, DATABASE_URL } })
    await jobThatWaits(server)
    assert.equal(sms.messages.length - since, 1)
    await server.app.pool.query(
      `update auth.postern_send_quotas set refilled_at = now() - interval '2h'`,
    )
    await server.app.pool.query(
      `update ${server.config.AUTH_DB_NAMESPACE}_jobs._private_jobs set run_at = now()
        where payload ->> 'request' is not null`,
    )
    await server.app.jobQueue.enqueue(server.app.db, 'clean_up', {})
    for (const phone of people) await sms.code(phone, since)
  })
})

async function textsDone({ app, config }: Pick<Built, 'app' | 'config'>): Promise<void> {
  const jobs = `select from ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs j
    where j.payload ->> 'request' is not null`
  const isDone = async () => (await app.pool.query(jobs)).rows.length === 0
  await until(isDone, { everyMs: 20, missing: 'the queue is not done' })
}
