/** GoTrue’s environment: its names, its empty values and features without full configuration. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { readConfig } from '../../config/read-config.ts'

const minimal = {
  GOTRUE_SITE_URL: 'https://app.example.com',
  API_EXTERNAL_URL: 'https://auth.example.com',
  GOTRUE_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://u:p@db/auth',
  GOTRUE_JWT_SECRET: 'v1Qx8nT3-bZr6yK0_mW4pL9dS7fH2jCeUaOgNi5RtYq',
}

function read(env: Record<string, string>) {
  const warnings: string[] = []
  const config = readConfig(
    { ...minimal, ...env },
    { dev: false, warn: (text) => warnings.push(text) },
  )
  return { config, warnings: warnings.join('\n') }
}

suite('GOTRUE_ variables', () => {
  test('without effect are named with the reason', () => {
    const { warnings } = read({
      GOTRUE_PROFILER_PORT: '9998',
      GOTRUE_RELOADING_NOTIFY_ENABLED: 'true',
      GOTRUE_COOKIE_KEY: 'sb',
      GOTRUE_PROFILR_PORT: '9998',
    })
    assert.match(warnings, /GOTRUE_PROFILER_PORT has no effect here because Node\.js has profilers/)
    assert.match(warnings, /GOTRUE_RELOADING_NOTIFY_ENABLED has no effect here because the env/)
    assert.match(warnings, /GOTRUE_COOKIE_KEY has no effect here because/)
    assert.match(warnings, /GOTRUE_PROFILR_PORT is not a known variable/)
  })

  test('choose hcaptcha when no captcha provider is set', () => {
    const env = { GOTRUE_SECURITY_CAPTCHA_ENABLED: 'true', GOTRUE_SECURITY_CAPTCHA_SECRET: 'a1b2' }
    assert.equal(read(env).config.AUTH_SECURITY_CAPTCHA_PROVIDER, 'hcaptcha')
    const other = { ...env, GOTRUE_SECURITY_CAPTCHA_PROVIDER: 'turnstile' }
    assert.equal(read(other).config.AUTH_SECURITY_CAPTCHA_PROVIDER, 'turnstile')
    assert.equal(read({}).config.AUTH_SECURITY_CAPTCHA_PROVIDER, undefined)
  })

  test('GOTRUE_API_PORT is an alias', () => {
    assert.equal(read({ GOTRUE_API_PORT: '9999' }).config.PORT, 9999)
  })

  test('accepts inherited variables with the prefix', () => {
    const { warnings } = read({ GOTRUE_OPERATOR_TOKEN: 'x', GOTRUE_API_ENDPOINT: 'https://x.test' })
    assert.doesNotMatch(warnings, /not a known variable/)
    assert.match(
      warnings,
      /deprecated and may be removed: GOTRUE_OPERATOR_TOKEN .*GOTRUE_API_ENDPOINT/,
    )
  })

  for (const [word, level] of Object.entries({ warning: 'warn', trace: 'trace', panic: 'panic' })) {
    test(`maps the log level ${word}`, () => {
      assert.equal(read({ GOTRUE_LOG_LEVEL: word }).config.LOG_LEVEL, level)
    })
  }

  test('treats an empty value as unset', () => {
    const { config } = read({ GOTRUE_SMTP_HOST: '', GOTRUE_JWT_EXP: '', GOTRUE_API_PORT: ' ' })
    assert.deepEqual(
      [config.AUTH_SMTP_HOST, config.AUTH_JWT_EXP, config.PORT],
      [undefined, 3600, 8081],
    )
  })

  const unfinished: [what: string, env: Record<string, string>, off: string, value: unknown][] = [
    [
      'a sender without a mail server',
      { SMTP_ADMIN_EMAIL: 'a@b.test' },
      'AUTH_SMTP_HOST',
      undefined,
    ],
    [
      'an SMTP user without a password',
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

    test(`${what} is a warning and disables the feature`, () => {
      const { config, warnings } = read(named('GOTRUE_'))
      assert.equal(Object.fromEntries(Object.entries(config))[off], value)
      assert.match(warnings, /is not set; it is needed because .*: .* is disabled/)
    })

    test(`${what} is an error under AUTH_ names`, () => {
      assert.throws(() => read(named('AUTH_')), /is not set; it is needed because/)
    })
  }

  test('does not list warnings among errors', () => {
    const env = { GOTRUE_DB_DRIVER: 'mysql', GOTRUE_EXTERNAL_GITHUB_ENABLED: 'true' }
    assert.throws(() => read(env), /has one error:\n *GOTRUE_DB_DRIVER is "mysql"/)
  })

  test('signs with a shared secret and suggests a signing algorithm with key pairs', () => {
    const { config, warnings } = read({})
    assert.equal(config.AUTH_JWT_ALGORITHM, 'HS256')
    assert.match(warnings, /HS256 and GOTRUE_JWT_SECRET.*AUTH_JWT_ALGORITHM=RS256/)
  })

  test('disables notifications and fresh authentication with a notice', () => {
    const { config, warnings } = read({})
    assert.equal(config.AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED, false)
    assert.equal(config.AUTH_SECURITY_FRESH_PROOF_MAX_AGE, 0)
    assert.match(warnings, /As in GoTrue, no notifications are sent .*FRESH_PROOF_MAX_AGE/)
    const set = {
      GOTRUE_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
      AUTH_SECURITY_FRESH_PROOF_MAX_AGE: '1h',
    }
    const chosen = read(set)
    assert.equal(chosen.config.AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED, true)
    assert.equal(chosen.config.AUTH_SECURITY_FRESH_PROOF_MAX_AGE, 3600)
    assert.doesNotMatch(chosen.warnings, /As in GoTrue, no notification/)
  })

  test('lets self-registered OAuth clients use the rights of the user, with a notice', () => {
    const variable = 'AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS'
    const before = read({ GOTRUE_OAUTH_SERVER_ENABLED: 'true' })
    assert.equal(before.config[variable], true)
    assert.match(before.warnings, /As in GoTrue, clients that register themselves/)
    const limited = read({ GOTRUE_OAUTH_SERVER_ENABLED: 'true', [variable]: 'false' })
    assert.equal(limited.config[variable], false)
    for (const { config, warnings } of [limited, read({ AUTH_OAUTH_SERVER_ENABLED: 'true' })]) {
      assert.equal(config[variable], false)
      assert.doesNotMatch(warnings, /clients that register themselves/)
    }
    assert.equal(read({}).config[variable], false)
  })

  test('AUTH_ names enable notifications except for new devices', () => {
    const { config } = read({ AUTH_JWT_SECRET: minimal.GOTRUE_JWT_SECRET })
    assert.equal(config.AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED, true)
    assert.equal(config.AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED, true)
    assert.equal(config.AUTH_MAILER_NOTIFICATIONS_PASSKEY_ADDED_ENABLED, true)
    assert.equal(config.AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED, false)
    assert.equal(config.AUTH_SECURITY_FRESH_PROOF_MAX_AGE, 600)
  })

  test('AUTH_ names or an explicit algorithm use RS256', () => {
    const own = { AUTH_JWT_SECRET: minimal.GOTRUE_JWT_SECRET }
    assert.equal(read(own).config.AUTH_JWT_ALGORITHM, 'RS256')
    assert.equal(read({ GOTRUE_JWT_ALGORITHM: 'RS256' }).config.AUTH_JWT_ALGORITHM, 'RS256')
  })
})
