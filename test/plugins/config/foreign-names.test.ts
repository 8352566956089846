/** What a switcher brings: GoTrue's names, its empty values, and features that were never finished. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { readConfig } from '../../../plugins/config/read-config.ts'

const least = {
  GOTRUE_SITE_URL: 'https://app.example.com',
  API_EXTERNAL_URL: 'https://auth.example.com',
  GOTRUE_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://u:p@db/auth',
  GOTRUE_JWT_SECRET: 'v1Qx8nT3-bZr6yK0_mW4pL9dS7fH2jCeUaOgNi5RtYq',
}

function read(env: Record<string, string>) {
  const warnings: string[] = []
  const config = readConfig(
    { ...least, ...env },
    { dev: false, warn: (text) => warnings.push(text) },
  )
  return { config, warnings: warnings.join('\n') }
}

suite("GoTrue's names", () => {
  test('an alias has its twin: GOTRUE_API_PORT', () => {
    assert.equal(read({ GOTRUE_API_PORT: '9999' }).config.PORT, 9999)
  })

  test('what is inherited is known under its own prefix', () => {
    const { warnings } = read({ GOTRUE_OPERATOR_TOKEN: 'x', GOTRUE_API_ENDPOINT: 'https://x.test' })
    assert.doesNotMatch(warnings, /not a known variable/)
    assert.match(
      warnings,
      /deprecated and may be removed: GOTRUE_OPERATOR_TOKEN .*GOTRUE_API_ENDPOINT/,
    )
  })

  for (const [word, level] of Object.entries({ warning: 'warn', trace: 'trace', panic: 'panic' })) {
    test(`the log level ${word}`, () => {
      assert.equal(read({ GOTRUE_LOG_LEVEL: word }).config.LOG_LEVEL, level)
    })
  }

  test('an empty value is none', () => {
    const { config } = read({ GOTRUE_SMTP_HOST: '', GOTRUE_JWT_EXP: '', GOTRUE_API_PORT: ' ' })
    assert.deepEqual(
      [config.AUTH_SMTP_HOST, config.AUTH_JWT_EXP, config.PORT],
      [undefined, 3600, 8081],
    )
  })

  const unfinished: [what: string, env: Record<string, string>, off: string, value: unknown][] = [
    [
      'an address without a mail server',
      { SMTP_ADMIN_EMAIL: 'a@b.test' },
      'AUTH_SMTP_HOST',
      undefined,
    ],
    [
      'a mail user without a password',
      { SMTP_HOST: 'mail', SMTP_ADMIN_EMAIL: 'a@b.test', SMTP_USER: 'u' },
      'AUTH_SMTP_HOST',
      undefined,
    ],
    [
      'an SMS provider without credentials',
      { EXTERNAL_PHONE_ENABLED: 'true', SMS_PROVIDER: 'twilio', SMS_TWILIO_AUTH_TOKEN: '' },
      'AUTH_SMS_PROVIDER',
      undefined,
    ],
    [
      'a provider without a secret',
      { EXTERNAL_GITHUB_ENABLED: 'true', EXTERNAL_GITHUB_CLIENT_ID: 'id' },
      'AUTH_EXTERNAL_GITHUB_ENABLED',
      false,
    ],
  ]
  for (const [what, env, off, value] of unfinished) {
    const named = (prefix: string) =>
      Object.fromEntries(Object.entries(env).map(([name, text]) => [prefix + name, text]))

    test(`${what} is a warning, and the feature is off`, () => {
      const { config, warnings } = read(named('GOTRUE_'))
      assert.equal(Object.fromEntries(Object.entries(config))[off], value)
      assert.match(warnings, /is not set; it is needed because .*: .* is switched off/)
    })

    test(`${what} is a mistake under our own names`, () => {
      assert.throws(() => read(named('AUTH_')), /is not set; it is needed because/)
    })
  }

  test('beside a real mistake, what would be a warning is none of the mistakes', () => {
    const env = { GOTRUE_DB_DRIVER: 'mysql', GOTRUE_EXTERNAL_GITHUB_ENABLED: 'true' }
    assert.throws(() => read(env), /has one mistake:\n *GOTRUE_DB_DRIVER is "mysql"/)
  })

  test('a shared secret alone signs as before, and one notice says how to move', () => {
    const { config, warnings } = read({})
    assert.equal(config.AUTH_JWT_ALGORITHM, 'HS256')
    assert.match(warnings, /HS256 and GOTRUE_JWT_SECRET.*AUTH_JWT_ALGORITHM=RS256/)
  })

  test('under our own names, or with an algorithm, RS256 stays', () => {
    const own = { AUTH_JWT_SECRET: least.GOTRUE_JWT_SECRET }
    assert.equal(read(own).config.AUTH_JWT_ALGORITHM, 'RS256')
    assert.equal(read({ GOTRUE_JWT_ALGORITHM: 'RS256' }).config.AUTH_JWT_ALGORITHM, 'RS256')
  })
})
