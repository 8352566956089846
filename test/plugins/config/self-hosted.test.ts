/**
 * The environment that the usual self-hosting compose file gives to its auth service, with the values of its
 * .env.example: only GoTrue's names, some of them empty. What has to be secret is random here, as that file asks for.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import type { VariableName } from '../../../plugins/config/config.ts'
import { readConfig } from '../../../plugins/config/read-config.ts'
import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { mailAfter } from '../../support/mail-journeys.ts'
import { linkIn } from '../../support/mail-links.ts'
import { newAddress, newNumber, password } from '../../support/people.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'

const secret = randomBytes(30).toString('base64')
const database = `postgres://supabase_auth_admin:${randomBytes(9).toString('hex')}@db:5432/postgres`
const path = '/auth/v1/verify'

type Row = [name: string, text: string, variable: VariableName, value: unknown]

/** Each variable of the service, and what it says here. */
const rows: Row[] = [
  ['GOTRUE_API_HOST', '0.0.0.0', 'AUTH_API_HOST', '0.0.0.0'],
  ['GOTRUE_API_PORT', '9999', 'PORT', 9999],
  ['API_EXTERNAL_URL', 'http://localhost:8000', 'AUTH_API_EXTERNAL_URL', 'http://localhost:8000'],
  ['GOTRUE_DB_DRIVER', 'postgres', 'AUTH_DB_DRIVER', 'postgres'],
  ['GOTRUE_DB_DATABASE_URL', database, 'DATABASE_URL', database],
  ['GOTRUE_SITE_URL', 'http://localhost:3000', 'AUTH_SITE_URL', 'http://localhost:3000'],
  ['GOTRUE_URI_ALLOW_LIST', '', 'AUTH_URI_ALLOW_LIST', []],
  ['GOTRUE_DISABLE_SIGNUP', 'false', 'AUTH_DISABLE_SIGNUP', false],
  ['GOTRUE_JWT_ADMIN_ROLES', 'service_role', 'AUTH_JWT_ADMIN_ROLES', ['service_role']],
  ['GOTRUE_JWT_AUD', 'authenticated', 'AUTH_JWT_AUD', 'authenticated'],
  [
    'GOTRUE_JWT_DEFAULT_GROUP_NAME',
    'authenticated',
    'AUTH_JWT_DEFAULT_GROUP_NAME',
    'authenticated',
  ],
  ['GOTRUE_JWT_EXP', '3600', 'AUTH_JWT_EXP', 3600],
  ['GOTRUE_JWT_SECRET', secret, 'AUTH_JWT_SECRET', secret],
  ['GOTRUE_EXTERNAL_EMAIL_ENABLED', 'true', 'AUTH_EXTERNAL_EMAIL_ENABLED', true],
  [
    'GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED',
    'false',
    'AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED',
    false,
  ],
  ['GOTRUE_MAILER_AUTOCONFIRM', 'false', 'AUTH_MAILER_AUTOCONFIRM', false],
  ['GOTRUE_SMTP_ADMIN_EMAIL', 'admin@example.com', 'AUTH_SMTP_ADMIN_EMAIL', 'admin@example.com'],
  ['GOTRUE_SMTP_HOST', 'supabase-mail', 'AUTH_SMTP_HOST', 'supabase-mail'],
  ['GOTRUE_SMTP_PORT', '2500', 'AUTH_SMTP_PORT', 2500],
  ['GOTRUE_SMTP_USER', 'fake_mail_user', 'AUTH_SMTP_USER', 'fake_mail_user'],
  ['GOTRUE_SMTP_PASS', 'fake_mail_password', 'AUTH_SMTP_PASS', 'fake_mail_password'],
  ['GOTRUE_SMTP_SENDER_NAME', 'fake_sender', 'AUTH_SMTP_SENDER_NAME', 'fake_sender'],
  ['GOTRUE_MAILER_URLPATHS_INVITE', path, 'AUTH_MAILER_URLPATHS_INVITE', path],
  ['GOTRUE_MAILER_URLPATHS_CONFIRMATION', path, 'AUTH_MAILER_URLPATHS_CONFIRMATION', path],
  ['GOTRUE_MAILER_URLPATHS_RECOVERY', path, 'AUTH_MAILER_URLPATHS_RECOVERY', path],
  ['GOTRUE_MAILER_URLPATHS_EMAIL_CHANGE', path, 'AUTH_MAILER_URLPATHS_EMAIL_CHANGE', path],
  ['GOTRUE_EXTERNAL_PHONE_ENABLED', 'true', 'AUTH_EXTERNAL_PHONE_ENABLED', true],
  ['GOTRUE_SMS_AUTOCONFIRM', 'true', 'AUTH_SMS_AUTOCONFIRM', true],
]

/** What every other test's server has of our own names; empty, it is unset. */
const none = Object.fromEntries(
  ['SITE_URL', 'API_EXTERNAL_URL', 'DB_DRIVER', 'JWT_SECRET', 'JWT_ALGORITHM'].map((name) => [
    `AUTH_${name}`,
    '',
  ]),
)

/** What the file has in comments, switched on before it was filled in: each is empty. */
const empty = [
  ...['GOOGLE', 'GITHUB', 'AZURE'].flatMap((provider) =>
    ['ENABLED', 'CLIENT_ID', 'SECRET'].map((field) => `GOTRUE_EXTERNAL_${provider}_${field}`),
  ),
  ...['PROVIDER', 'OTP_EXP', 'OTP_LENGTH', 'MAX_FREQUENCY', 'TEMPLATE', 'TEST_OTP'].map(
    (field) => `GOTRUE_SMS_${field}`,
  ),
  ...['ACCOUNT_SID', 'AUTH_TOKEN', 'MESSAGE_SERVICE_SID'].map(
    (field) => `GOTRUE_SMS_TWILIO_${field}`,
  ),
  ...['TOTP_ENROLL_ENABLED', 'TOTP_VERIFY_ENABLED', 'MAX_ENROLLED_FACTORS'].map(
    (field) => `GOTRUE_MFA_${field}`,
  ),
  'GOTRUE_MAILER_SECURE_EMAIL_CHANGE_ENABLED',
  'GOTRUE_SMTP_MAX_FREQUENCY',
]

const environment = {
  ...Object.fromEntries(rows.map(([name, text]) => [name, text])),
  ...Object.fromEntries(empty.map((name) => [name, ''])),
}

function read(env: Record<string, string>) {
  const warnings: string[] = []
  const config = readConfig(env, { dev: false, warn: (text) => warnings.push(text) })
  return { config, warnings }
}

suite('the environment of a self-hosted GoTrue', () => {
  for (const [name, text, variable, value] of rows) {
    test(`${name}=${text === secret || text === database ? '…' : text} is ${variable}`, () => {
      assert.deepEqual(read(environment).config[variable], value)
    })
  }

  test('warns of nothing but what is so', () => {
    const { warnings } = read(environment)
    const expected = [
      /^Some variables are read under another server's names: /,
      // No provider is named, so a code cannot be sent; numbers are confirmed without one.
      /^AUTH_SMS_PROVIDER is not set/,
      /^AUTH_RATE_LIMIT_HEADER is not set/,
      /^New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before/,
    ]
    assert.equal(warnings.length, expected.length, warnings.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(warnings[at] ?? '', pattern)
    const named = warnings[0] ?? ''
    for (const [name, text] of rows) assert.equal(named.includes(name), text !== '', name)
    for (const name of empty) assert.ok(!warnings.join().includes(name), name)
  })

  test('the secrets that the example file publishes are refused', () => {
    const published = 'your-super-secret-jwt-token-with-at-least-32-characters-long'
    assert.throws(() => read({ ...environment, GOTRUE_JWT_SECRET: published }), /GOTRUE_JWT_SECRET/)
  })

  test('runs as it says', async (t) => {
    const own = new Set(['GOTRUE_DB_DATABASE_URL', 'GOTRUE_SMTP_HOST', 'GOTRUE_SMTP_PORT'])
    // The mail server of the test wants no password.
    const free = new Set([
      ...own,
      'GOTRUE_SMTP_USER',
      'GOTRUE_SMTP_PASS',
      'GOTRUE_SMTP_ADMIN_EMAIL',
    ])
    const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !free.has(name)))
    const server = await build(t, { env: { ...env, ...none } })
    const { app } = server

    const settings = (await call(app, '/settings')).json()
    const { email, phone, anonymous_users: anonymous } = settings.external
    assert.deepEqual([email, phone, anonymous], [true, true, false])
    assert.deepEqual([settings.disable_signup, settings.phone_autoconfirm], [false, true])
    assert.equal(settings.mailer_autoconfirm, false)
    assert.equal((await call(app, '/signup', {})).json().error_code, 'anonymous_provider_disabled')

    const address = newAddress()
    const redirect = `redirect_to=${encodeURIComponent('https://elsewhere.example/')}`
    const message = await mailAfter(server, address, () =>
      call(app, `/signup?${redirect}`, { email: address, password }),
    )
    const link = new URL(linkIn(message))
    assert.equal(link.origin + link.pathname, `http://localhost:8000${path}`)
    assert.equal(link.searchParams.get('redirect_to'), 'http://localhost:3000')
    assert.equal(message.mail.from?.value[0]?.name, 'fake_sender')

    const byPhone = await call(app, '/signup', { phone: newNumber(), password })
    const session = byPhone.json<Session>()
    assert.equal(session.expires_in, 3600, byPhone.body)
    const parts = session.access_token.split('.').slice(0, 2)
    const [header, claims] = parts.map((part) => JSON.parse(String(Buffer.from(part, 'base64url'))))
    assert.deepEqual(
      [header.alg, claims.aud, claims.role],
      ['HS256', ...Array(2).fill('authenticated')],
    )

    const asRole = async (role: string) => {
      const token = await app.jwt.signApiToken({ role, seconds: 60 }, new Date())
      return (await call(app, '/admin/users', undefined, { token })).statusCode
    }
    assert.deepEqual([await asRole('service_role'), await asRole('supabase_admin')], [200, 403])
    const user: User = session.user
    assert.ok(user.phone_confirmed_at)
  })
})
