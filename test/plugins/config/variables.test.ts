/** Every variable of the specification: how it is read, what it is without, and what it refuses. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { VariableName } from '../../../plugins/config/config.ts'
import {
  specifiedMailKinds,
  specifiedProviders,
  specifiedVariables,
} from '../../../scripts/specification.ts'
import { read, wrongVariables } from './environment.ts'

interface Facts {
  /** The variable, or another of its names. */
  name: string
  setting: VariableName
  /** Its value when it is not set; `required` has none. */
  preset: unknown
  text: string
  value: unknown
  /** A text that is refused; there is none where every text means something. */
  wrong?: string
}

/** Name, value when not set, text, its value, a wrong text. */
type Row = [name: string, preset: unknown, text: string, value: unknown, wrong?: string]

const required = Symbol('required')
const secret = 'thirty-two bytes, none in a row!'
const none = undefined

const rows: Row[] = [
  ['AUTH_SITE_URL', required, 'https://b.test', 'https://b.test', 'b.test'],
  ['AUTH_URI_ALLOW_LIST', [], 'https://a.test/*,b://c', ['https://a.test/*', 'b://c']],
  ['AUTH_DISABLE_SIGNUP', false, 'true', true, 'maybe'],
  ['AUTH_EXTERNAL_EMAIL_ENABLED', true, 'false', false, 'maybe'],
  ['AUTH_EXTERNAL_PHONE_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_API_HOST', none, '127.0.0.1', '127.0.0.1'],
  ['PORT', 8081, '9', 9, 'http'],
  ['AUTH_API_EXTERNAL_URL', required, 'https://b.test', 'https://b.test', 'b.test'],
  ['AUTH_REQUEST_ID_HEADER', none, 'X-Trace', 'X-Trace', 'X Trace'],
  ['AUTH_RATE_LIMIT_HEADER', none, 'X-Real-IP', 'X-Real-IP', 'X Real IP'],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', hourly(30), '7', hourly(7), 'many'],
  ['AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_PASSWORD_MIN_LENGTH', 6, '12', 12, '5'],
  ['AUTH_PASSWORD_REQUIRED_CHARACTERS', [], 'ab:0\\:', ['ab', '0:']],
  ['AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED', true, 'false', false, 'maybe'],
  ['AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL', 10, '20', 20, 'long'],
  ['AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION', false, 'true', true, 'maybe'],
  ['AUTH_MULTI_INSTANCE_MODE', none, 'true', 'true'],
  ['OPERATOR_TOKEN', none, 'token', 'token'],
  ['API_ENDPOINT', none, '/api', '/api'],

  ['AUTH_DB_DRIVER', required, 'postgres', 'postgres', 'mysql'],
  ['DATABASE_URL', required, 'postgres://a@b/c', 'postgres://a@b/c', 'mysql://a@b/c'],
  ['AUTH_DB_MAX_POOL_SIZE', 20, '5', 5, '-1'],
  ['AUTH_DB_NAMESPACE', 'auth', 'people', 'people', 'a-b'],

  ['LOG_LEVEL', 'info', 'panic', 'panic', 'loud'],
  ['AUTH_LOG_FILE', none, '/tmp/x.log', '/tmp/x.log'],
  ['AUTH_TRACING_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_TRACING_EXPORTER', 'opentelemetry', 'opentelemetry', 'opentelemetry', 'zipkin'],
  ['AUTH_METRICS_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_METRICS_EXPORTER', 'opentelemetry', 'prometheus', 'prometheus', 'statsd'],
  ['OTEL_EXPORTER_PROMETHEUS_HOST', '0.0.0.0', '127.0.0.1', '127.0.0.1'],
  ['OTEL_EXPORTER_PROMETHEUS_PORT', 9100, '9200', 9200, '70000'],
  ['DEBUG', false, 'true', true],
  ['OTEL_RESOURCE_ATTRIBUTES', none, 'a=b', 'a=b'],

  ['AUTH_JWT_SECRET', required, secret, secret, 's'.repeat(31)],
  ['AUTH_JWT_EXP', 3600, '60', 60, '0'],
  ['AUTH_JWT_AUD', 'authenticated', 'team', 'team'],
  ['AUTH_JWT_ADMIN_ROLES', adminRoles(), 'a, b', ['a', 'b'], ','],
  ['AUTH_JWT_ADMIN_GROUP_NAME', none, 'boss', 'boss'],
  ['AUTH_JWT_DEFAULT_GROUP_NAME', 'authenticated', 'people', 'people'],

  ...specifiedProviders.flatMap(providerRows),
  ['AUTH_EXTERNAL_GITLAB_URL', none, 'https://git.test', 'https://git.test', 'git.test'],
  ['AUTH_EXTERNAL_KEYCLOAK_URL', none, 'https://id.test/realm', 'https://id.test/realm', 'id.test'],

  ['AUTH_SMTP_ADMIN_EMAIL', none, 'b@mail.test', 'b@mail.test', 'nobody'],
  ['AUTH_SMTP_HOST', none, 'b.test', 'b.test'],
  ['AUTH_SMTP_PORT', 587, '25', 25, 'smtp'],
  ['AUTH_SMTP_USER', none, 'me', 'me'],
  ['AUTH_SMTP_PASS', none, 'pass', 'pass'],
  ['AUTH_SMTP_MAX_FREQUENCY', none, '30', 30, 'often'],
  ['AUTH_SMTP_SENDER_NAME', none, 'Ada', 'Ada'],
  ['AUTH_MAILER_AUTOCONFIRM', false, 'true', true, 'maybe'],
  ['AUTH_MAILER_OTP_EXP', 86_400, '60', 60, '0'],
  ...['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'].map(
    (kind): Row => [`AUTH_MAILER_URLPATHS_${kind}`, '/verify', '/welcome', '/welcome'],
  ),
  ['AUTH_MAILER_SUBJECTS_INVITE', "You've been invited", 'Hi', 'Hi'],
  ['AUTH_MAILER_SUBJECTS_CONFIRMATION', 'Confirm your email address', 'Hi', 'Hi'],
  ['AUTH_MAILER_SUBJECTS_RECOVERY', 'Reset your password', 'Hi', 'Hi'],
  ['AUTH_MAILER_SUBJECTS_MAGIC_LINK', 'Your sign-in link', 'Hi', 'Hi'],
  ['AUTH_MAILER_SUBJECTS_EMAIL_CHANGE', 'Confirm your new email address', 'Hi', 'Hi'],
  ['AUTH_MAILER_SUBJECTS_REAUTHENTICATION', '{{ .Token }} is your verification code', 'Hi', 'Hi'],
  ...(
    [
      ['PASSWORD_CHANGED', 'Your password was changed'],
      ['EMAIL_CHANGED', 'Your email address was changed'],
      ['PHONE_CHANGED', 'Your phone number was changed'],
      ['IDENTITY_LINKED', 'A new sign-in method was linked to your account'],
      ['IDENTITY_UNLINKED', 'A sign-in method was removed from your account'],
      ['MFA_FACTOR_ENROLLED', 'A new verification method was added to your account'],
      ['MFA_FACTOR_UNENROLLED', 'A verification method was removed from your account'],
      ['SECURITY_KEY_REFUSED', 'A security key of your account was refused'],
      ['RECOVERY_CODE_USED', 'A recovery code of your account was used'],
    ] as const
  ).flatMap(([event, subject]): Row[] => [
    [`AUTH_MAILER_SUBJECTS_${event}_NOTIFICATION`, subject, 'Hi', 'Hi'],
    [`AUTH_MAILER_NOTIFICATIONS_${event}_ENABLED`, false, 'true', true, 'maybe'],
  ]),
  ...specifiedMailKinds.map(
    (kind): Row => [`AUTH_MAILER_TEMPLATES_${kind}`, none, 'https://a.test/x', 'https://a.test/x'],
  ),

  ['AUTH_SMS_AUTOCONFIRM', false, 'true', true, 'maybe'],
  ['AUTH_SMS_MAX_FREQUENCY', 60, '5', 5, 'often'],
  ['AUTH_SMS_OTP_EXP', 60, '120', 120, '0'],
  ['AUTH_SMS_OTP_LENGTH', 6, '8', 8, '5'],
  ...['twilio', 'messagebird', 'textlocal', 'vonage'].map(
    (name): Row => ['AUTH_SMS_PROVIDER', none, name, name, 'pigeon'],
  ),
  ...['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_MESSAGE_SERVICE_SID'].map(textRow),
  ...['MESSAGEBIRD_ACCESS_KEY', 'MESSAGEBIRD_ORIGINATOR'].map(textRow),

  ['AUTH_SECURITY_CAPTCHA_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', none, 'hCaptcha', 'hcaptcha', 'riddle'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', none, 'Turnstile', 'turnstile', 'riddle'],
  ['AUTH_SECURITY_CAPTCHA_SECRET', none, 'b', 'b'],
  ['AUTH_SECURITY_CAPTCHA_TIMEOUT', 10, '3s', 3, 'long'],
]

const otherNames: Record<string, VariableName> = {
  AUTH_API_PORT: 'PORT',
  AUTH_DB_DATABASE_URL: 'DATABASE_URL',
  LOG_FILE: 'AUTH_LOG_FILE',
}

const variables: Facts[] = [
  ...rows.map((row) => factsOf(row, row[0])),
  ...Object.entries(otherNames).flatMap(([name, setting]) =>
    rows.filter(([of]) => of === setting).map((row) => factsOf(row, name)),
  ),
]

/** What has to be there for some of them to be right at all. */
const companions: Record<string, string> = {
  AUTH_SMTP_HOST: 'a.test',
  AUTH_SMTP_ADMIN_EMAIL: 'a@mail.test',
  AUTH_SMTP_USER: 'user',
  AUTH_SMTP_PASS: 'word',
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
  AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
  AUTH_EXTERNAL_KEYCLOAK_URL: 'https://id.test',
}

suite('every variable of the specification', () => {
  for (const name of new Set(variables.map(({ name }) => name))) {
    suite(name, () => tryVariable(variables.filter((facts) => facts.name === name)))
  }

  test('tokens are signed with RS256 unless the operator says otherwise', () => {
    assert.equal(read({}).config.AUTH_JWT_ALGORITHM, 'RS256')
  })

  test('none is left out', () => {
    const tried = new Set(variables.map(({ name }) => name))
    assert.deepEqual(
      specifiedVariables.filter((name) => !tried.has(name)),
      [],
    )
  })
})

/** What it is without and what it refuses is the same in each row of one variable. */
function tryVariable(rows: Facts[]): void {
  for (const { name, setting, text, value } of rows) {
    test(`${text} is read`, () => {
      const { config } = read(withCompanions(name, setting, text))
      assert.deepEqual(config[setting], value)
    })
  }

  const [first] = rows
  assert.ok(first)
  const { name, setting, preset, wrong } = first
  test('is not set', () => {
    if (preset === required) assert.deepEqual(wrongVariables({ [setting]: '' }), [setting])
    else assert.deepEqual(read({}).config[setting], preset)
  })

  if (wrong === undefined) return
  test(`${wrong} is refused by name`, () => {
    const environment = withCompanions(name, setting, wrong)
    assert.deepEqual(wrongVariables(environment), [name])
  })
}

/** Under another of its names, the setting's own is empty. */
function withCompanions(name: string, setting: string, text: string): Record<string, string> {
  const provider = /^(AUTH_EXTERNAL_[A-Z]+_)(ENABLED|CLIENT_ID|SECRET|REDIRECT_URI)$/.exec(
    name,
  )?.[1]
  const isProvider = provider !== undefined && !/_(EMAIL|PHONE)_/.test(provider)
  return {
    ...companions,
    ...(isProvider && {
      [`${provider}CLIENT_ID`]: 'id',
      [`${provider}SECRET`]: 'secret',
      [`${provider}REDIRECT_URI`]: 'https://auth.example.test/callback',
    }),
    [setting]: '',
    [name]: text,
  }
}

function factsOf([setting, preset, text, value, wrong]: Row, name: string): Facts {
  const facts = { name, setting: setting as VariableName, preset, text, value }
  return wrong === undefined ? facts : { ...facts, wrong }
}

function providerRows(provider: string): Row[] {
  const prefix = `AUTH_EXTERNAL_${provider.toUpperCase()}`
  const callback = 'https://b.test/callback'
  return [
    [`${prefix}_ENABLED`, false, 'true', true, 'maybe'],
    [`${prefix}_CLIENT_ID`, [], 'a,b', ['a', 'b']],
    [`${prefix}_SECRET`, none, 'word', 'word'],
    [`${prefix}_REDIRECT_URI`, none, callback, callback, '/callback'],
  ]
}

function textRow(name: string): Row {
  return [`AUTH_SMS_${name}`, none, 'abc', 'abc']
}

function hourly(count: number) {
  return { count, seconds: 3600 }
}

function adminRoles(): string[] {
  return ['service_role', 'supabase_admin', 'platform_admin']
}
