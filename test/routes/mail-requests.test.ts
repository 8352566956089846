/** What anybody may ask to be mailed: the same answer for every address, in words, headers and work done. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { PoolClient } from 'pg'

import {
  type Built,
  call,
  confirmedPerson,
  idle,
  mailAfter,
  newAddress,
  nextMail,
  password,
  pkcePair,
  signIn,
} from '../support/mail-journeys.ts'
import { build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const requests = [
  { path: '/recover', more: {} },
  { path: '/magiclink', more: { data: { a: 1 } } },
  { path: '/otp', more: {} },
  { path: '/otp', more: { create_user: true, ...pkcePair().fields } },
  { path: '/resend', more: { type: 'signup' } },
  { path: '/resend', more: { type: 'email_change' } },
]

/** An address of every kind that a stranger might ask about. */
const addresses: Record<string, (server: Built) => Promise<string>> = {
  unknown: async () => newAddress(),
  confirmed: async (server) => (await confirmedPerson(server)).user.email,
  unconfirmed: async (server) => {
    const email = newAddress()
    await mailAfter(server, email, () => call(server.app, '/signup', { email, password }))
    return email
  },
  banned: async (server) => {
    const { user } = await confirmedPerson(server)
    const banned_until = new Date(Date.now() + 3_600_000)
    await server.app.db
      .updateTable('users')
      .set({ banned_until })
      .where('id', '=', user.id)
      .execute()
    return user.email
  },
  'with a change of address pending': async (server) => {
    const { user, access_token: token } = await confirmedPerson(server)
    const body = { email: newAddress() }
    await call(server.app, '/user', body, { method: 'PUT', token })
    return user.email
  },
}

suite('asking for a mail', () => {
  const servers = sharedServers()

  for (const { path, more } of requests) {
    test(`${path} ${JSON.stringify(more)}: one answer and one course of work for all`, async (t) => {
      const server = await build(t)
      const asked: Record<string, string> = {}
      for (const [who, make] of Object.entries(addresses)) asked[who] = await make(server)
      await idle(server)
      await server.app.jobQueue.stop()
      const statements = record(server)

      const seen = []
      for (const email of Object.values(asked)) {
        statements.length = 0
        const response = await call(server.app, path, { email, ...more })
        const { date: _, 'x-request-id': __, ...headers } = response.headers
        const { message_id = '', ...body } = response.json()
        const isId = /^[0-9a-f-]{36}$/.test(message_id)
        assert.equal(isId, path === '/resend')
        seen.push({ status: response.statusCode, headers, body, work: [...statements] })
      }
      assert.equal(seen[0]?.status, 200)
      assert.ok((seen[0]?.work.length ?? 0) > 3, 'the statements were recorded')
      for (const answer of seen) assert.deepEqual(answer, seen[0])
    })
  }

  test('what is queued cannot be read in the database', async (t) => {
    const { app, config } = await build(t)
    await app.jobQueue.stop()
    const email = newAddress('secret')
    const fields = pkcePair().fields
    assert.equal((await call(app, '/otp', { email, ...fields })).statusCode, 200)
    const table = `${config.AUTH_DB_NAMESPACE}_jobs._private_jobs`
    const { rows } = await app.pool.query(
      `select * from ${table} where payload ->> 'request' is not null`,
    )
    assert.equal(rows.length, 1)
    const text = JSON.stringify(rows)
    assert.ok(!text.includes('secret') && !text.includes(fields.code_challenge))
  })

  const outcomes: { path: string; who: string; subject: string | undefined; body?: object }[] = [
    { path: '/recover', who: 'unknown', subject: undefined },
    { path: '/recover', who: 'confirmed', subject: 'Reset your password' },
    { path: '/recover', who: 'unconfirmed', subject: 'Reset your password' },
    { path: '/recover', who: 'banned', subject: 'Reset your password' },
    { path: '/magiclink', who: 'unknown', subject: 'Confirm your email address' },
    { path: '/magiclink', who: 'confirmed', subject: 'Your sign-in link' },
    { path: '/magiclink', who: 'unconfirmed', subject: 'Confirm your email address' },
    { path: '/otp', who: 'unknown', subject: 'Confirm your email address' },
    { path: '/otp', who: 'confirmed', subject: 'Your sign-in link' },
    {
      path: '/otp',
      who: 'confirmed',
      subject: 'Your sign-in link',
      body: { create_user: false },
    },
    { path: '/resend', who: 'unknown', subject: undefined, body: { type: 'signup' } },
    { path: '/resend', who: 'confirmed', subject: undefined, body: { type: 'signup' } },
    {
      path: '/resend',
      who: 'unconfirmed',
      subject: 'Confirm your email address',
      body: { type: 'signup' },
    },
    { path: '/resend', who: 'confirmed', subject: undefined, body: { type: 'email_change' } },
    {
      path: '/resend',
      who: 'with a change of address pending',
      subject: 'Confirm your new email address',
      body: { type: 'email_change' },
    },
  ]
  for (const { path, who, subject, body = {} } of outcomes) {
    test(`${path} for an address that is ${who}: ${subject ?? 'nothing'}`, async () => {
      const server = await servers()
      const email = (await addresses[who]?.(server)) ?? ''
      await idle(server)
      const since = server.mail.messages.length
      const response = await call(server.app, path, { email, ...body })
      assert.equal(response.statusCode, 200, response.body)
      if (subject) {
        assert.equal((await nextMail(server, email, since)).mail.subject, subject)
        return
      }
      await idle(server)
      assert.equal(server.mail.messages.length, since)
    })
  }

  test('with sign-ups closed nobody new is written to, and those who are there are', async () => {
    const server = await servers({ AUTH_DISABLE_SIGNUP: 'true' })
    const since = server.mail.messages.length
    const email = newAddress()
    assert.deepEqual((await call(server.app, '/otp', { email })).json(), {})
    await idle(server)
    assert.equal(server.mail.messages.length, since)
    const { rows } = await server.app.pool.query('select 1 from auth.users')
    assert.equal(rows.length, 0)
  })

  test('with autoconfirmation somebody new is confirmed and gets a sign-in link', async () => {
    const server = await servers({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const email = newAddress()
    const message = await mailAfter(server, email, () => call(server.app, '/otp', { email }))
    assert.equal(message.mail.subject, 'Your sign-in link')
    const person = await server.app.db
      .selectFrom('users')
      .select(['email_confirmed_at', 'encrypted_password'])
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    assert.ok(person.email_confirmed_at)
    assert.equal(person.encrypted_password, null)
    assert.equal((await signIn(server.app, email, '')).statusCode, 400)
  })

  test('create_user false tells that an address is unknown, malformed ones alike', async () => {
    const { app } = await servers()
    for (const email of [newAddress(), 'nonsense']) {
      const response = await call(app, '/otp', { email, create_user: false })
      assert.equal(response.statusCode, 422)
      assert.equal(response.json().error_code, 'otp_disabled')
    }
  })

  test('a request that waited longer than a link lives is dropped, with a log line', async (t) => {
    const lines: string[] = []
    const server = await build(t, { lines })
    const { app, config, mail } = server
    const { user } = await confirmedPerson(server)
    await app.jobQueue.stop()
    await call(app, '/recover', { email: user.email })
    const since = mail.messages.length
    await app.pool.query(
      `update ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs
        set payload = jsonb_set(payload::jsonb, '{asked_at}', '"2020-01-01T00:00:00Z"')::json
        where payload ->> 'request' is not null`,
    )
    const second = await build(t, {
      lines,
      env: { DATABASE_URL: config.DATABASE_URL, AUTH_SMTP_PORT: String(mail.port) },
    })
    await idle({ ...second, config })
    assert.equal(mail.messages.length, since)
    const dropped = lines.filter((line) => line.includes('it waited too long'))
    assert.equal(dropped.length, 1)
    assert.ok(!dropped[0]?.includes(user.email))
  })

  test('a job that is done twice mails once', async (t) => {
    const server = await build(t)
    const { app, config, mail } = server
    const { user } = await confirmedPerson(server)
    await app.jobQueue.stop()
    await call(app, '/recover', { email: user.email })
    const jobs = `${config.AUTH_DB_NAMESPACE}_jobs`
    const { rows } = await app.pool.query<{ payload: object }>(
      `select payload from ${jobs}._private_jobs where payload ->> 'request' is not null`,
    )
    const again = JSON.stringify(rows[0]?.payload)
    await app.pool.query(`select ${jobs}.add_job('answer_mail_request', $1::json)`, [again])
    const since = mail.messages.length
    // The other process that picks the work up.
    const second = await build(t, {
      env: { DATABASE_URL: config.DATABASE_URL, AUTH_SMTP_PORT: String(mail.port) },
    })
    await idle({ ...second, config })
    assert.equal(mail.messages.length - since, 1)
  })
})

suite('asking for a mail that cannot be', () => {
  const servers = sharedServers()
  const off = { AUTH_EXTERNAL_EMAIL_ENABLED: 'false' }
  const noLinks = { AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: 'false' }
  const noServer = { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
  const listed = { AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ann@example.com' }
  const email = 'ann@example.com'

  const refusals: {
    path: string
    body: object
    env?: Record<string, string>
    status: number
    code: string
  }[] = [
    { path: '/recover', body: {}, status: 400, code: 'validation_failed' },
    { path: '/recover', body: { email: 'x@' }, status: 400, code: 'validation_failed' },
    {
      path: '/recover',
      body: { email, code_challenge: 'short', code_challenge_method: 's256' },
      status: 400,
      code: 'validation_failed',
    },
    { path: '/recover', body: { email }, env: off, status: 400, code: 'email_provider_disabled' },
    { path: '/magiclink', body: {}, status: 422, code: 'validation_failed' },
    { path: '/magiclink', body: { email: 'x' }, status: 400, code: 'validation_failed' },
    { path: '/magiclink', body: { email }, env: off, status: 422, code: 'email_provider_disabled' },
    { path: '/otp', body: { email }, env: noLinks, status: 422, code: 'email_provider_disabled' },
    { path: '/otp', body: {}, status: 400, code: 'validation_failed' },
    { path: '/otp', body: { email, phone: '+1555' }, status: 400, code: 'validation_failed' },
    { path: '/otp', body: { email, channel: 'sms' }, status: 400, code: 'validation_failed' },
    {
      path: '/otp',
      body: { email, code_challenge: 'x'.repeat(43), code_challenge_method: 's512' },
      status: 400,
      code: 'validation_failed',
    },
    { path: '/resend', body: { type: 'recovery', email }, status: 400, code: 'validation_failed' },
    { path: '/resend', body: { type: 'signup' }, status: 400, code: 'validation_failed' },
    { path: '/resend', body: { type: 'sms', email }, status: 400, code: 'validation_failed' },
    {
      path: '/resend',
      body: { type: 'signup', email: 'x' },
      status: 400,
      code: 'validation_failed',
    },
    {
      path: '/resend',
      body: { type: 'signup', email },
      env: off,
      status: 400,
      code: 'email_provider_disabled',
    },
    ...['/recover', '/otp', '/magiclink'].flatMap((path) => [
      { path, body: { email }, env: noServer, status: 500, code: 'email_provider_not_configured' },
      {
        path,
        body: { email: 'bob@example.com' },
        env: listed,
        status: 400,
        code: 'email_address_not_authorized',
      },
      { path, body: { email: 'ann+label@example.com' }, env: listed, status: 200, code: '' },
    ]),
    {
      path: '/signup',
      body: { email: 'bob@example.com', password },
      env: listed,
      status: 400,
      code: 'email_address_not_authorized',
    },
  ]
  for (const { path, body, env = {}, status, code } of refusals) {
    const setting = Object.entries(env).join()
    test(`${path} ${JSON.stringify(body)} ${setting}: ${status} ${code}`, async () => {
      const { app } = await servers(env)
      const response = await call(app, path, body)
      assert.equal(response.statusCode, status, response.body)
      assert.equal(response.json().error_code ?? '', code)
    })
  }
})

/** Every statement that requests make from now on, workers not included. */
function record({ app }: Built): string[] {
  const statements: string[] = []
  const wrapped = new WeakSet<PoolClient>()
  app.pool.on('acquire', (client) => {
    if (wrapped.has(client)) return
    wrapped.add(client)
    const query: (...args: unknown[]) => unknown = client.query.bind(client)
    Object.assign(client, {
      query: (...args: unknown[]) => {
        const [first] = args
        const text = typeof first === 'string' ? first : String(Object(first).text)
        // Read by a clock of its own, on whichever connection is free.
        if (!text.includes('signing_keys')) statements.push(text)
        return query(...args)
      },
    })
  })
  return statements
}
