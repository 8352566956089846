/** Values accepted by GoTrue: their meaning under GOTRUE_ names, and their rejection under AUTH_ names. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { issuesIn, read } from './environment.ts'

type Row = [variable: string, text: string, value: unknown, more?: Record<string, string>]

const shortSecret = '3f9c61b0d27e845a16cb'
const key = { kty: 'oct', k: Buffer.from(shortSecret).toString('base64url'), alg: 'HS256' }
const shortKeys = [{ ...key, key_ops: ['sign', 'verify'] }]
const databaseHook = {
  HOOK_SEND_SMS_ENABLED: 'true',
  HOOK_SEND_SMS_URI: 'pg-functions://postgres/public/sms',
}

/** Each is an error under its AUTH_ name. */
const rows: Row[] = [
  ['SITE_URL', 'app.example.test', 'https://app.example.test'],
  ['SITE_URL', 'localhost:3000', 'http://localhost:3000'],
  ['SITE_URL', 'app.example.test:8443/path', 'https://app.example.test:8443/path'],
  ['CORS_ALLOWED_HEADERS', 'X-A, X-Größe, X B', ['X-A']],
  ['CORS_ALLOWED_HEADERS', 'X-Größe', []],
  ['MAILER_EXTERNAL_HOSTS', 'https://a.example,b.example:8080', ['b.example:8080']],
  ['JWT_EXP', '0', 3600],
  ['JWT_KEYS', '[]', undefined],
  ['JWT_KEYS', JSON.stringify(shortKeys), shortKeys],
  ['JWT_SECRET', shortSecret, shortSecret],
  ['API_MAX_REQUEST_DURATION', '0s', 3600],
  ['MAILER_OTP_EXP', '0', 86_400],
  ['MAILER_OTP_LENGTH', '4', 6],
  ['MAILER_OTP_LENGTH', '12', 6],
  ['SMS_OTP_EXP', '0', 60],
  ['SMS_OTP_LENGTH', '0', 6],
  ['SMS_PROVIDER', 'pigeon', undefined],
  ['PASSWORD_MIN_LENGTH', '4', 6],
  ['MFA_CHALLENGE_EXPIRY_DURATION', '60', 300],
  ['MFA_FACTOR_EXPIRY_DURATION', '1m', 300],
  ['MFA_PHONE_OTP_LENGTH', '3', 6],
  ['EXTERNAL_FLOW_STATE_EXPIRY_DURATION', '60s', 300],
  [
    'SMTP_ADMIN_EMAIL',
    'The App <app@example.test>',
    'app@example.test',
    { SMTP_HOST: 'mail.test' },
  ],
  ['HOOK_SEND_EMAIL_SECRETS', '<standard-base64-secret>', []],
  ['HOOK_SEND_SMS_SECRETS', '<standard-base64-secret>', [], databaseHook],
]

const named = (prefix: string, values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [prefix + name, text]))

/** The AUTH_ name takes precedence; an empty one is unset. */
const under = (prefix: string, name: string, text: string, more: Record<string, string> = {}) => ({
  [`AUTH_${name}`]: '',
  ...named(prefix, { ...more, [name]: text }),
})

suite('values that GoTrue accepts', () => {
  for (const [name, text, value, more] of rows) {
    const shown = text.includes(shortSecret) ? '…' : text

    test(`GOTRUE_${name}=${shown} has GoTrue’s meaning and logs a warning`, () => {
      const { config, notices } = read(under('GOTRUE_', name, text, more))
      assert.deepEqual(Object.fromEntries(Object.entries(config))[`AUTH_${name}`], value)
      const warning = notices.find((notice) => notice.startsWith(`GOTRUE_${name} `))
      assert.ok(warning, notices.join('\n'))
      assert.ok(!warning.includes(shortSecret))
    })

    test(`AUTH_${name}=${shown} is an error`, () => {
      const variables = issuesIn(under('AUTH_', name, text, more)).map(({ variable }) => variable)
      assert.ok(variables.includes(`AUTH_${name}`), variables.join())
    })
  }

  test('a name in the sender address becomes the sender name', () => {
    const mail = { GOTRUE_SMTP_HOST: 'mail.test', GOTRUE_SMTP_ADMIN_EMAIL: '"The App" <a@b.test>' }
    assert.equal(read(mail).config.AUTH_SMTP_SENDER_NAME, 'The App')
    const named = read({ ...mail, GOTRUE_SMTP_SENDER_NAME: 'Ours' })
    assert.equal(named.config.AUTH_SMTP_SENDER_NAME, 'Ours')
  })

  test('accepts an app scheme as site URL', () => {
    for (const site of ['myapp://', 'myapp:///home', 'com.example.app:/home']) {
      const env = under('GOTRUE_', 'SITE_URL', site)
      assert.equal(read(env).config.AUTH_SITE_URL, site)
    }
  })

  test('rejects unreadable values under either name', () => {
    for (const [name, text] of [
      ['SITE_URL', 'two words'],
      ['JWT_EXP', 'soon'],
      ['SMTP_ADMIN_EMAIL', 'unknown'],
    ] as const) {
      const [invalid] = issuesIn(under('GOTRUE_', name, text))
      assert.equal(invalid?.variable, `GOTRUE_${name}`)
    }
  })

  test('requires the secret of an enabled hook', () => {
    const hook = named('GOTRUE_', {
      HOOK_SEND_SMS_ENABLED: 'true',
      HOOK_SEND_SMS_URI: 'https://hooks.example.test/sms',
      HOOK_SEND_SMS_SECRETS: '<standard-base64-secret>',
    })
    const [invalid] = issuesIn(hook)
    assert.equal(invalid?.variable, 'GOTRUE_HOOK_SEND_SMS_SECRETS')
  })

  test('rejects a short and common secret', () => {
    const [invalid] = issuesIn(under('GOTRUE_', 'JWT_SECRET', 'secret'))
    assert.equal(invalid?.variable, 'GOTRUE_JWT_SECRET')
    assert.match(String(invalid?.problem), /guessable/)
  })
})
