/** Each specified variable: parsing, default and rejected values. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ConfigVariableName } from '../../config/groups/index.ts'
import {
  specifiedMailKinds,
  specifiedProviders,
  specifiedSettings,
  specifiedVariables,
} from '../../scripts/specification.ts'
import { read, wrongVariables } from './environment.ts'

interface Facts {
  /** The variable, or another of its names. */
  name: string
  setting: ConfigVariableName
  /** Its default: `required` has none, `stated` is in the specification’s table. */
  preset: unknown
  text: string
  value: unknown
  /** A rejected value; missing when each value is accepted. */
  wrong?: string
}

/** Name, value when not set, text, its value, a wrong text. */
type Row = [name: string, preset: unknown, text: string, value: unknown, wrong?: string]

const required = Symbol('required')
const stated = Symbol('stated')
const secret = 'thirty-two bytes, none in a row!'
const none = undefined

const specifiedNotifications = specifiedVariables.filter((name) =>
  name.startsWith('AUTH_MAILER_NOTIFICATIONS_'),
)
const ownNotifications: [event: string, subject: string][] = [
  ['SECURITY_KEY_REFUSED', 'A security key of your account was rejected'],
  ['RECOVERY_CODE_USED', 'A recovery code of your account was used'],
  ['PASSKEY_ADDED', 'A passkey was added to your account'],
  ['MFA_VERIFICATION_FAILED', 'Failed verifications on your account'],
  ['TOO_MANY_ATTEMPTS', 'Too many failed attempts on your account'],
  ['USERNAME_CHANGED', 'Your username was changed'],
  ['APP_CONNECTED', 'An app was given access to your account'],
  ['ADMIN_ROLE', 'A role on the server was given'],
  ['ORGANIZATION_ROLE', 'A role in {{ .OrganizationName }} was given'],
  ['SCIM_TOKEN', 'A SCIM token was issued'],
  ['OAUTH_CLIENT', 'A connected application was changed'],
  ['SERVER_CHANGE', 'The sign-in settings were changed'],
]

const rows: Row[] = [
  ['AUTH_SITE_URL', required, 'https://b.test', 'https://b.test', 'b.test'],
  ['AUTH_URI_ALLOW_LIST', stated, 'https://a.test/*,b://c', ['https://a.test/*', 'b://c']],
  ['AUTH_DISABLE_SIGNUP', stated, 'true', true, 'maybe'],
  ['AUTH_EXTERNAL_EMAIL_ENABLED', true, 'false', false, 'maybe'],
  ['AUTH_EXTERNAL_PHONE_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_API_HOST', none, '127.0.0.1', '127.0.0.1'],
  ['PORT', stated, '9', 9, 'http'],
  ['AUTH_API_EXTERNAL_URL', required, 'https://b.test', 'https://b.test', 'b.test'],
  ['AUTH_REQUEST_ID_HEADER', none, 'X-Trace', 'X-Trace', 'X Trace'],
  ['AUTH_RATE_LIMIT_HEADER', none, 'X-Real-IP', 'X-Real-IP', 'X Real IP'],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', hourly(30), '7', hourly(7), 'many'],
  ['AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_PASSWORD_MIN_LENGTH', stated, '12', 12, '5'],
  ['AUTH_PASSWORD_REQUIRED_CHARACTERS', [], 'ab:0\\:', ['ab', '0:']],
  ['AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED', true, 'false', false, 'maybe'],
  ['AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL', 10, '20', 20, 'long'],
  ['AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION', false, 'true', true, 'maybe'],
  ['AUTH_MULTI_INSTANCE_MODE', none, 'true', 'true'],
  ['OPERATOR_TOKEN', none, 'token', 'token'],
  ['API_ENDPOINT', none, '/api', '/api'],

  ['AUTH_DB_DRIVER', required, 'postgres', 'postgres', 'mysql'],
  ['DATABASE_URL', required, 'postgres://a@b/c', 'postgres://a@b/c', 'mysql://a@b/c'],
  ['AUTH_DB_MAX_POOL_SIZE', stated, '5', 5, '-1'],
  ['AUTH_DB_NAMESPACE', 'auth', 'members', 'members', 'a-b'],

  ['LOG_LEVEL', stated, 'panic', 'panic', 'loud'],
  ['AUTH_LOG_FILE', none, '/tmp/x.log', '/tmp/x.log'],
  ['AUTH_TRACING_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_TRACING_EXPORTER', 'opentelemetry', 'opentelemetry', 'opentelemetry', 'zipkin'],
  ['AUTH_METRICS_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_METRICS_EXPORTER', 'opentelemetry', 'prometheus', 'prometheus', 'statsd'],
  ['OTEL_EXPORTER_PROMETHEUS_HOST', stated, '127.0.0.1', '127.0.0.1'],
  ['OTEL_EXPORTER_PROMETHEUS_PORT', stated, '9200', 9200, '70000'],
  ['DEBUG', false, 'true', true],
  ['OTEL_RESOURCE_ATTRIBUTES', none, 'a=b', 'a=b'],

  ['AUTH_JWT_SECRET', required, secret, secret, 's'.repeat(31)],
  ['AUTH_JWT_EXP', stated, '60', 60, '0'],
  ['AUTH_JWT_AUD', 'authenticated', 'team', 'team'],
  ['AUTH_JWT_ADMIN_ROLES', adminRoles(), 'a, b', ['a', 'b'], ','],
  ['AUTH_JWT_ADMIN_GROUP_NAME', none, 'boss', 'boss'],
  ['AUTH_JWT_DEFAULT_GROUP_NAME', 'authenticated', 'members', 'members'],

  ...specifiedProviders.flatMap(providerRows),
  ['AUTH_EXTERNAL_GITLAB_URL', none, 'https://git.test', 'https://git.test', 'git.test'],
  ['AUTH_EXTERNAL_KEYCLOAK_URL', none, 'https://id.test/realm', 'https://id.test/realm', 'id.test'],

  ['AUTH_SMTP_ADMIN_EMAIL', none, 'b@mail.test', 'b@mail.test', 'unknown'],
  ['AUTH_SMTP_HOST', none, 'b.test', 'b.test'],
  ['AUTH_SMTP_PORT', 587, '25', 25, 'smtp'],
  ['AUTH_SMTP_USER', none, 'me', 'me'],
  ['AUTH_SMTP_PASS', none, 'pass', 'pass'],
  ['AUTH_SMTP_MAX_FREQUENCY', none, '30', 30, 'often'],
  ['AUTH_SMTP_SENDER_NAME', none, 'Ada', 'Ada'],
  ['AUTH_MAILER_AUTOCONFIRM', stated, 'true', true, 'maybe'],
  ['AUTH_MAILER_OTP_EXP', 86_400, '60', 60, '0'],
  ...['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'].map(
    (kind): Row => [`AUTH_MAILER_URLPATHS_${kind}`, stated, '/welcome', '/welcome'],
  ),
  ...specifiedMailKinds.map((kind): Row => [`AUTH_MAILER_SUBJECTS_${kind}`, stated, 'Hi', 'Hi']),
  ...specifiedNotifications.map((name): Row => [name, true, 'false', false, 'maybe']),
  ...ownNotifications.flatMap(([event, subject]): Row[] => [
    [`AUTH_MAILER_SUBJECTS_${event}_NOTIFICATION`, subject, 'Hi', 'Hi'],
    [`AUTH_MAILER_NOTIFICATIONS_${event}_ENABLED`, true, 'false', false, 'maybe'],
  ]),
  ...specifiedMailKinds.map(
    (kind): Row => [`AUTH_MAILER_TEMPLATES_${kind}`, none, 'https://a.test/x', 'https://a.test/x'],
  ),

  ['AUTH_SMS_AUTOCONFIRM', stated, 'true', true, 'maybe'],
  ['AUTH_SMS_MAX_FREQUENCY', stated, '5', 5, 'often'],
  ['AUTH_SMS_OTP_EXP', 60, '120', 120, '0'],
  ['AUTH_SMS_OTP_LENGTH', 6, '8', 8, '5'],
  ...['twilio', 'messagebird', 'textlocal', 'vonage'].map(
    (name): Row => ['AUTH_SMS_PROVIDER', none, name, name, 'pigeon'],
  ),
  ...['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_MESSAGE_SERVICE_SID'].map(textRow),
  ...['MESSAGEBIRD_ACCESS_KEY', 'MESSAGEBIRD_ORIGINATOR'].map(textRow),

  ['AUTH_SECURITY_CAPTCHA_ENABLED', false, 'true', true, 'maybe'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', none, 'hCaptcha', 'hcaptcha', 'unknown'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', none, 'Turnstile', 'turnstile', 'unknown'],
  ['AUTH_SECURITY_CAPTCHA_SECRET', none, 'b', 'b'],
  ['AUTH_SECURITY_CAPTCHA_TIMEOUT', 10, '3s', 3, 'long'],
]

/** Defaults that differ from the specification's on purpose, each with the reason. */
const departures: Record<string, string> = {
  AUTH_JWT_ADMIN_GROUP_NAME: 'inherited, without effect',
  AUTH_SMTP_MAX_FREQUENCY:
    'unset it is 900 s for confirmations alone: test/routes/auth/send-limits.test.ts',
  AUTH_SMTP_SENDER_NAME: 'a rule, not a value: test/plugins/messaging/mailer/delivery.test.ts',
  ...Object.fromEntries(
    specifiedNotifications.map((name) => [
      name,
      'users are notified of what changes their account',
    ]),
  ),
}

const variables: Facts[] = [
  ...rows.map((row) => toFacts(row, row[0])),
  ...specifiedSettings.flatMap(({ name, aliases }) =>
    aliases.flatMap((alias) =>
      rows.filter(([of]) => of === name).map((row) => toFacts(row, alias)),
    ),
  ),
]

/** Variables that others depend on. */
const companions: Record<string, string> = {
  AUTH_SMTP_HOST: 'a.test',
  AUTH_SMTP_ADMIN_EMAIL: 'a@mail.test',
  AUTH_SMTP_USER: 'user',
  AUTH_SMTP_PASS: 'word',
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
  AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
  AUTH_EXTERNAL_KEYCLOAK_URL: 'https://id.test',
}

suite('specified variables', () => {
  for (const name of new Set(variables.map(({ name }) => name))) {
    suite(name, () => tryVariable(variables.filter((facts) => facts.name === name)))
  }

  test('AUTH_JWT_ALGORITHM defaults to RS256', () => {
    assert.equal(read({}).config.AUTH_JWT_ALGORITHM, 'RS256')
  })

  test('have the defaults of the specification', () => {
    const withDefault = specifiedSettings.filter((setting) => setting.default !== undefined)
    const tested = new Set(rows.filter(([, preset]) => preset === stated).map(([name]) => name))
    const untested = withDefault.filter(({ name }) => !tested.has(name)).map(({ name }) => name)
    assert.deepEqual(untested.toSorted(), Object.keys(departures).toSorted())
  })

  test('are required when the specification requires them', () => {
    const always = specifiedSettings.filter(({ name, required }) => required && !isOfFeature(name))
    assert.equal(always.length, 5)
    for (const { name } of always) assert.deepEqual(wrongVariables({ [name]: '' }), [name])
  })

  test('have a test each', () => {
    const tried = new Set(variables.map(({ name }) => name))
    assert.deepEqual(
      specifiedVariables.filter((name) => !tried.has(name)),
      [],
    )
  })
})

/** Default and rejected value are the same in each row of a variable. */
function tryVariable(rows: Facts[]): void {
  for (const { name, setting, text, value } of rows) {
    test(`reads ${text}`, () => {
      const { config } = read(withCompanions(name, setting, text))
      assert.deepEqual(config[setting], value)
    })
  }

  const [first] = rows
  assert.ok(first)
  const { name, setting, preset, wrong } = first
  test('has the specified default or is required', () => {
    if (preset === required) assert.deepEqual(wrongVariables({ [setting]: '' }), [setting])
    else
      assert.deepEqual(
        read({}).config[setting],
        preset === stated ? getStatedDefault(setting) : preset,
      )
  })

  if (wrong === undefined) return
  test(`rejects ${wrong} and names the variable`, () => {
    const environment = withCompanions(name, setting, wrong)
    assert.deepEqual(wrongVariables(environment), [name])
  })
}

/** The default in the specification's table: a number, a truth value or a list, else the text itself. */
function getStatedDefault(setting: string): unknown {
  const text = specifiedSettings.find(({ name }) => name === setting)?.default
  assert.ok(text !== undefined, setting)
  return /^(\d+|true|false|\[\])$/.test(text) ? JSON.parse(text) : text
}

/** Required where the feature is enabled: a provider, or mail. */
function isOfFeature(name: string): boolean {
  return /^AUTH_(EXTERNAL_\w+_(CLIENT_ID|SECRET|REDIRECT_URI)|SMTP_\w+)$/.test(name)
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

function toFacts([setting, preset, text, value, wrong]: Row, name: string): Facts {
  const facts = { name, setting: setting as ConfigVariableName, preset, text, value }
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
