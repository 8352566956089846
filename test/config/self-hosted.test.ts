/** The environment of the Supabase self-hosting compose file: the meaning of each variable, and a running server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { readConfig } from '../../config/read-config.ts'
import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { emailAfter } from '../support/messages/mail-journeys.ts'
import { linkIn } from '../support/messages/mail-links.ts'
import {
  database,
  empty,
  environment,
  path,
  rows,
  secret,
} from '../support/processes/self-hosted.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { newAddress, newNumber, password } from '../support/users.ts'

/** The AUTH_ variables of all test servers; empty means unset. */
const none = Object.fromEntries(
  ['SITE_URL', 'API_EXTERNAL_URL', 'DB_DRIVER', 'JWT_SECRET', 'JWT_ALGORITHM'].map((name) => [
    `AUTH_${name}`,
    '',
  ]),
)

function read(env: Record<string, string>) {
  const warnings: string[] = []
  const config = readConfig(env, { dev: false, warn: (text) => warnings.push(text) })
  return { config, warnings }
}

suite('environment of a self-hosted GoTrue', () => {
  for (const [name, text, variable, value] of rows) {
    test(`${name}=${text === secret || text === database ? '…' : text} is ${variable}`, () => {
      assert.deepEqual(read(environment).config[variable], value)
    })
  }

  test('logs only applicable warnings', () => {
    const { warnings } = read(environment)
    const expected = [
      /^Some variables are read under GoTrue's names: /,
      /^AUTH_ENCRYPTION_KEY is not set/,
      // Without a provider no code can be sent, so numbers are confirmed without a code.
      /^AUTH_SMS_PROVIDER is not set/,
      /^AUTH_RATE_LIMIT_HEADER is not set/,
      /^New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before/,
      /^X-JWT-AUD may name any audience, as before/,
      /^As in GoTrue, no notifications are sent and a session of any age/,
    ]
    assert.equal(warnings.length, expected.length, warnings.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(warnings[at] ?? '', pattern)
    const named = warnings[0] ?? ''
    for (const [name, text] of rows) assert.equal(named.includes(name), text !== '', name)
    for (const name of empty) assert.ok(!warnings.join().includes(name), name)
  })

  test('rejects the published secrets of the example file', () => {
    const published = 'your-super-secret-jwt-token-with-at-least-32-characters-long'
    assert.throws(() => read({ ...environment, GOTRUE_JWT_SECRET: published }), /GOTRUE_JWT_SECRET/)
  })

  test('starts a server that follows the settings', async (t) => {
    const own = new Set(['GOTRUE_DB_DATABASE_URL', 'GOTRUE_SMTP_HOST', 'GOTRUE_SMTP_PORT'])
    // The test mail server requires no password.
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
    const message = await emailAfter(server, address, () =>
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
