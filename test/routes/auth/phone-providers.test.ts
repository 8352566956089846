import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { until } from '../../support/processes/until.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, newNumber, password, signUpUser } from '../../support/users.ts'
import {
  deadUrl,
  type SeenRequest,
  type VendorResponse,
  vendorServer,
} from '../../support/vendor-server.ts'

const template = 'Ihr Code für {{ .Code }}'
const phones = {
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_MAILER_AUTOCONFIRM: 'true',
  AUTH_SMS_MAX_FREQUENCY: '0',
  AUTH_RATE_LIMIT_SMS_SENT: '1000',
  AUTH_SMS_TEMPLATE: template,
}

interface Vendor {
  env: (url: string) => Record<string, string>
  accepted: VendorResponse
  rejected: VendorResponse
  /** The message and the number in the provider's request. */
  read: (seen: SeenRequest) => { text: string | undefined; to: string | undefined }
  /** Values of the request from the configuration above: account, secret and sender. */
  credentials: (seen: SeenRequest) => unknown
  expected: unknown
}

const vendors: Record<string, Vendor> = {
  twilio: {
    env: (url) => ({
      AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
      AUTH_SMS_TWILIO_AUTH_TOKEN: 't',
      AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
      AUTH_SMS_TWILIO_URL: url,
    }),
    accepted: { status: 201, json: { sid: 'SM1', status: 'queued' } },
    rejected: { status: 400, json: { message: 'no such number', more_info: 'https://t.example' } },
    read: ({ form }) => ({ text: form.Body, to: form.To?.slice(1) }),
    credentials: ({ headers, path, form }) => [
      headers.authorization,
      path.split('/')[3],
      form.From,
    ],
    expected: [`Basic ${Buffer.from('AC1:t').toString('base64')}`, 'AC1', 'MG1'],
  },
  messagebird: {
    env: (url) => ({
      AUTH_SMS_MESSAGEBIRD_ACCESS_KEY: 'k',
      AUTH_SMS_MESSAGEBIRD_ORIGINATOR: 'Acme',
      AUTH_SMS_MESSAGEBIRD_URL: url,
    }),
    accepted: { status: 201, json: { id: 'mb1', recipients: { totalSentCount: 1 } } },
    rejected: { status: 422, json: { errors: [{ code: 9, description: 'no recipients' }] } },
    read: ({ form }) => ({ text: form.body, to: form.recipients }),
    credentials: ({ headers, form }) => [headers.authorization, form.originator],
    expected: ['AccessKey k', 'Acme'],
  },
  textlocal: {
    env: (url) => ({
      AUTH_SMS_TEXTLOCAL_API_KEY: 'k',
      AUTH_SMS_TEXTLOCAL_SENDER: 'ACME',
      AUTH_SMS_TEXTLOCAL_URL: url,
    }),
    accepted: { json: { status: 'success', messages: [{ id: '77', recipient: 1 }] } },
    rejected: { json: { status: 'failure', errors: [{ code: 80, message: 'Invalid template' }] } },
    read: ({ form }) => ({ text: form.message, to: form.numbers }),
    credentials: ({ form }) => [form.apikey, form.sender],
    expected: ['k', 'ACME'],
  },
  vonage: {
    env: (url) => ({
      AUTH_SMS_VONAGE_API_KEY: 'k',
      AUTH_SMS_VONAGE_API_SECRET: 's',
      AUTH_SMS_VONAGE_FROM: 'Acme',
      AUTH_SMS_VONAGE_URL: url,
    }),
    accepted: { json: { messages: [{ status: '0', 'message-id': 'v1' }] } },
    rejected: { json: { messages: [{ status: '4', 'error-text': 'Bad Credentials' }] } },
    read: ({ form }) => ({ text: form.text, to: form.to }),
    credentials: ({ form }) => [form.api_key, form.api_secret, form.from],
    expected: ['k', 's', 'Acme'],
  },
}

for (const [name, vendor] of Object.entries(vendors)) {
  suite(`SMS through ${name}`, () => {
    const begin = sharedServer(name, vendor)

    test('signs in with the texted code', async () => {
      const { app, seen, lines } = await begin(vendor.accepted)
      const phone = newNumber()
      const signedUp = await call(app, '/signup', { phone, password })
      assert.equal(signedUp.statusCode, 200, signedUp.body)
      assert.equal(seen.length, 1)
      const { text, to } = vendor.read(seen[0] ?? assert.fail())
      assert.equal(to, phone)
      const token = /^Ihr Code für (\d{6})$/.exec(text ?? '')?.[1] ?? assert.fail(text)
      const verified = await call(app, '/verify', { type: 'sms', phone, token })
      assert.equal(verified.json().user?.phone, phone, verified.body)
      assertNotLogged(lines, phone, token)
      assert.ok(lines.some((line) => line.includes(name) && line.includes('provider_message_id')))
    })

    test('sends the configured credentials', async () => {
      const { app, seen } = await begin(vendor.accepted)
      await call(app, '/signup', { phone: newNumber(), password })
      assert.deepEqual(vendor.credentials(seen[0] ?? assert.fail()), vendor.expected)
    })

    const failures: [string, VendorResponse][] = [
      ['an error', vendor.rejected],
      ['an invalid response', { status: 200, text: '<html>' }],
      ['a lost connection', 'drop'],
      ['a timeout', 'hang'],
    ]
    for (const [what, reply] of failures) {
      test(`returns 422 sms_send_failed with a fixed message for ${what}`, async (t) => {
        const { app, lines } =
          reply === 'hang'
            ? await startServer(t, name, withShortDeadline(vendor))
            : await begin(reply)
        const phone = newNumber()
        const response = await call(app, '/otp', { phone })
        assert.deepEqual(statusAndCode(response), [422, 'sms_send_failed'])
        assert.doesNotMatch(response.body, /no such|no recip|Invalid|Bad|html|example/)
        assertNotLogged(lines, phone)
      })
    }
  })
}

suite('SMS through twilio_verify', () => {
  const started: VendorResponse = {
    status: 201,
    json: { sid: 'VE1', status: 'pending', valid: false },
  }
  const approved: VendorResponse = { json: { sid: 'VE1', status: 'approved', valid: true } }
  const pending: VendorResponse = { json: { sid: 'VE1', status: 'pending', valid: false } }
  const expired = [403, 'otp_expired']
  const vendor: Pick<Vendor, 'env'> = {
    env: (url) => ({
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
      AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID: 'AC1',
      AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN: 't',
      AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: 'VA1',
      AUTH_SMS_TWILIO_VERIFY_URL: url,
    }),
  }
  const begin = sharedServer('twilio_verify', vendor)
  const typed = (app: App, phone: string, token: string) =>
    call(app, '/verify', { type: 'sms', phone, token })

  test('lets the provider create and check the code', async () => {
    const { app, seen } = await begin(started, pending, approved)
    const phone = newNumber()
    assert.equal((await call(app, '/signup', { phone, password })).statusCode, 200)
    assert.deepEqual(statusAndCode(await typed(app, phone, '000000')), expired)
    const verified = await typed(app, phone, '482910')
    assert.equal(verified.json().user?.phone, phone, verified.body)
    assert.deepEqual(
      seen.map(({ path }) => path.split('/').at(-1)),
      ['Verifications', 'VerificationCheck', 'VerificationCheck'],
    )
    assert.deepEqual(seen[2]?.form, { To: `+${phone}`, Code: '482910' })
  })

  test('treats a code rejected for its format as a wrong code', async () => {
    const json = { code: 60200, message: 'Invalid parameter: Code', more_info: '', status: 400 }
    const { app } = await begin(started, { status: 400, json }, approved)
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    assert.deepEqual(statusAndCode(await typed(app, phone, '482')), expired)
    assert.equal((await typed(app, phone, '482910')).statusCode, 200)
  })

  test('creates no more than one session per sent message', async () => {
    const { app } = await begin(started, approved)
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => typed(app, phone, '482910')),
    )
    assert.deepEqual(
      responses.map(({ statusCode }) => statusCode).sort(),
      [200, 403, 403, 403, 403],
    )
    assert.deepEqual(statusAndCode(await typed(app, phone, '482910')), expired)
    assert.deepEqual(statusAndCode(await typed(app, newNumber(), '482910')), expired)
  })

  test('rejects a sign-in code for a phone change', async () => {
    const { app } = await begin(started, approved)
    const session = await signUpUser(app)
    const [phone, other] = [newNumber(), newNumber()]
    await call(app, '/signup', { phone, password })
    await changeUser(app, session.access_token, { phone: other })
    const wrong = { type: 'phone_change', phone, token: '482910' }
    assert.deepEqual(statusAndCode(await call(app, '/verify', wrong)), expired)
    const right = await call(app, '/verify', { ...wrong, phone: other })
    assert.equal(right.json().user?.id, session.user.id, right.body)
  })

  test('accepts an approved code for ten minutes', async (t) => {
    const { app } = await begin(started, started, approved)
    const [soon, late] = [newNumber(), newNumber()]
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    for (const phone of [soon, late]) await call(app, '/signup', { phone, password })
    t.mock.timers.setTime(now + 599_000)
    assert.equal((await typed(app, soon, '482910')).statusCode, 200)
    t.mock.timers.setTime(now + 601_000)
    assert.deepEqual(statusAndCode(await typed(app, late, '482910')), expired)
  })

  test('gives a number requested twice to the latest requester', async () => {
    const { app } = await begin(started, started, approved)
    const [first, last] = [await signUpUser(app), await signUpUser(app)]
    const phone = newNumber()
    for (const { access_token } of [first, last]) await changeUser(app, access_token, { phone })
    const verification = { type: 'phone_change', phone, token: '482910' }
    const changed = await call(app, '/verify', verification)
    assert.equal(changed.json().user?.id, last.user.id, changed.body)
  })

  test('accepts the code after nine failed attempts', async () => {
    const wrong = Array.from({ length: 9 }, () => pending)
    const { app } = await begin(started, ...wrong, approved)
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    for (let attempt = 0; attempt < 9; attempt++) await typed(app, phone, '000000')
    assert.equal((await typed(app, phone, '482910')).statusCode, 200)
  })

  test('rejects the code after ten failed attempts', async () => {
    const wrong = Array.from({ length: 10 }, () => pending)
    const { app } = await begin(started, ...wrong, approved)
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    for (let attempt = 0; attempt < 11; attempt++) {
      assert.deepEqual(statusAndCode(await typed(app, phone, '482910')), expired)
    }
  })

  test('returns 500 when the provider is unreachable', async () => {
    const { app } = await begin(started, 'drop')
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    const response = await typed(app, phone, '482910')
    assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'])
  })

  test('verifies the code before a password change', async () => {
    const { app } = await begin(started, approved, started, pending, approved)
    const phone = newNumber()
    await call(app, '/signup', { phone, password })
    const session = (await typed(app, phone, '482910')).json()
    await app.pool.query(`update auth.sessions set created_at = now() - interval '25 hours'`)
    const headers = { authorization: `Bearer ${session.access_token}` }
    const requested = await app.inject({ url: '/reauthenticate', headers })
    assert.equal(requested.statusCode, 200, requested.body)
    const change = { password: 'a new password', nonce: '482910' }
    assert.deepEqual(statusAndCode(await changeUser(app, session.access_token, change)), expired)
    const done = await changeUser(app, session.access_token, change)
    assert.equal(done.statusCode, 200, done.body)
  })
})

test('SMS without a provider: warns at startup and rejects requests without side effects', async (t) => {
  const lines: string[] = []
  const { app } = await build(t, { env: phones, lines })
  assert.ok(lines.some((line) => line.includes('until AUTH_SMS_PROVIDER is set')))
  const phone = newNumber()
  for (const [url, body] of [
    ['/signup', { phone, password }],
    ['/otp', { phone }],
  ] as const) {
    assert.deepEqual(statusAndCode(await call(app, url, body)), [500, 'unexpected_failure'], url)
  }
  // It is not known yet whether there is something to send.
  const repeated = await call(app, '/resend', { type: 'sms', phone })
  assert.equal(repeated.statusCode, 200, repeated.body)
  const session = await signUpUser(app)
  assert.deepEqual(statusAndCode(await changeUser(app, session.access_token, { phone })), [
    500,
    'unexpected_failure',
  ])
  const { rows } = await app.pool.query(`select id from auth.users where phone is not null`)
  assert.deepEqual(rows, [])
})

test('SMS without a provider: POST /resend responds identically and logs the error', async (t) => {
  const lines: string[] = []
  const { app } = await build(t, { env: phones, lines })
  const { phone } = await adminCreatedUser(app, { phone: newNumber() })
  for (const number of [phone, newNumber()]) {
    const { statusCode, body } = await call(app, '/resend', { type: 'sms', phone: number })
    assert.equal(statusCode, 200, body)
  }
  await until(() => lines.some((line) => line.includes('SMS not resent')))
  const output = lines.filter((line) => line.includes('SMS not resent'))
  assert.deepEqual(
    output.map((line) => JSON.parse(line).level),
    ['error'],
  )
})

test('SMS provider unreachable: returns 422 sms_send_failed', async (t) => {
  const { env } = vendors.twilio ?? assert.fail()
  const { app } = await build(t, {
    env: { ...phones, ...env(await deadUrl()), AUTH_SMS_PROVIDER: 'twilio' },
  })
  const response = await call(app, '/otp', { phone: newNumber() })
  assert.deepEqual(statusAndCode(response), [422, 'sms_send_failed'])
})

test('SMS in development: shows the message in the inbox', async (t) => {
  const { app } = await build(t, { dev: true, env: phones })
  const phone = newNumber()
  await call(app, '/otp', { phone })
  const [message] = (await app.inject('/dev/messages')).json()
  assert.deepEqual([message.channel, message.to], ['sms', `+${phone}`])
  const verified = await call(app, '/verify', { type: 'sms', phone, token: message.code })
  assert.equal(verified.statusCode, 200, verified.body)
})

/** Called in a suite: its tests share a server; each sets the responses of its provider. */
function sharedServer(name: string, vendor: Pick<Vendor, 'env'>) {
  const ending = endingOfSuite()
  let server: ReturnType<typeof startServer> | undefined
  return async (...responses: [VendorResponse, ...VendorResponse[]]) => {
    server ??= startServer(ending, name, vendor)
    const { restart, ...started } = await server
    restart(...responses)
    started.lines.length = 0
    return started
  }
}

/** By default, the provider never responds. */
async function startServer(t: Ending, name: string, { env }: Pick<Vendor, 'env'>) {
  const { url, seen, restart } = await vendorServer(t, 'hang')
  const lines: string[] = []
  const { app } = await build(t, {
    env: { ...phones, ...env(url), AUTH_SMS_PROVIDER: name },
    lines,
  })
  return { app, seen, lines, restart }
}

/** The request waits most of this time for the silent provider. */
const withShortDeadline = ({ env }: Vendor): Pick<Vendor, 'env'> => ({
  env: (url) => ({ ...env(url), AUTH_API_MAX_REQUEST_DURATION: '2s' }),
})

/** No line above debug contains any of this. */
function assertNotLogged(lines: string[], ...secrets: string[]): void {
  for (const line of lines) {
    if (JSON.parse(line).level === 'debug') continue
    for (const secret of secrets) assert.ok(!line.includes(secret), line)
  }
}
