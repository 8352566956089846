import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ConfigVariableName } from '../../config/groups/index.ts'
import { read, wrongVariables } from './environment.ts'

const key = 'qR3-vT8_zLm5Xw0KpYd7uBn1HsGc6JfEo2AiVtQyZ4k'
const rsa = { kty: 'RSA', alg: 'RS256', kid: 'a', d: 'x', key_ops: ['sign', 'verify'] }

const hook = { url: 'https://a.test/x', secrets: [`whsec_${'A'.repeat(32)}`] }

const right: [ConfigVariableName, string, unknown][] = [
  ['AUTH_DISABLE_SIGNUP', 'TRUE', true],
  ['AUTH_DISABLE_SIGNUP', '1', true],
  ['AUTH_EXTERNAL_EMAIL_ENABLED', 'off', false],
  ['PORT', '0', 0],
  ['PORT', ' 65535 ', 65535],
  ['AUTH_JWT_EXP', '7200', 7200],
  ['AUTH_JWT_EXP', '2h', 7200],
  ['AUTH_SESSIONS_TIMEBOX', '1h30m', 5400],
  ['AUTH_SMTP_MAX_FREQUENCY', '0', 0],
  ['AUTH_RATE_LIMIT_VERIFY', '0.5', 0.5],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', '12', { count: 12, seconds: 3600 }],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', '5/10m', { count: 5, seconds: 600 }],
  ['AUTH_RATE_LIMIT_SMS_SENT', '0', { count: 0, seconds: 3600 }],
  ['AUTH_URI_ALLOW_LIST', 'https://a.test/** , ,myapp://x', ['https://a.test/**', 'myapp://x']],
  ['AUTH_API_EXTERNAL_URL', 'https://a.test/auth//', 'https://a.test/auth'],
  ['AUTH_SITE_URL', 'myapp://home/', 'myapp://home/'],
  ['AUTH_API_PREFIX', '/', ''],
  ['AUTH_TAKEOVER_ACCEPT_MISSING', 'SAML, web3', ['saml', 'web3']],
  ['AUTH_API_PREFIX', '/auth/v2/', '/auth/v2'],
  ['AUTH_JWT_ALGORITHM', 'es256', 'ES256'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'hCaptcha', 'hcaptcha'],
  ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'Turnstile', 'turnstile'],
  ['LOG_LEVEL', 'panic', 'panic'],
  ['AUTH_PASSWORD_REQUIRED_CHARACTERS', 'abc:0\\:9::!?', ['abc', '0:9', '!?']],
  [
    'AUTH_SMS_TEST_OTP',
    '+1 555 0100:123456, 15550101:000000',
    { 15550100: '123456', 15550101: '000000' },
  ],
  ['AUTH_SMS_TEST_OTP_VALID_UNTIL', '2030-01-01T00:00:00+01:00', new Date('2029-12-31T23:00:00Z')],
  [
    'AUTH_SMTP_HEADERS',
    '{"X-Kind":["$messageType"],"X-One":"1"}',
    { 'X-Kind': ['$messageType'], 'X-One': ['1'] },
  ],
  ['AUTH_JWT_KEYS', JSON.stringify([rsa]), [rsa]],
  ['AUTH_JWT_KEYS', JSON.stringify({ keys: [rsa] }), [rsa]],
  ['AUTH_ENCRYPTION_KEY', key, key],
  ['AUTH_ENCRYPTION_OLD_KEYS', `${key},${key}`, [key, key]],
  ['AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS', `a:${key}`, { a: key }],
  [
    'AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS',
    'github=x,custom:a=x',
    { github: 'x', 'custom:a': 'x' },
  ],
  ['AUTH_EXTERNAL_APPLE_CLIENT_ID', ' a , b', ['a', 'b']],
  ['AUTH_JWT_ADMIN_ROLES', 'boss', ['boss']],
  ['AUTH_WEBHOOK_ENDPOINTS', JSON.stringify([hook]), [hook]],
  ['DEBUG', 'express:*', false],
  ['DEBUG', 'true', true],
  ['AUTH_JWT_AUD', '', 'authenticated'],
]

const wrong: [ConfigVariableName, string][] = [
  ['AUTH_WEBHOOK_ENDPOINTS', JSON.stringify([hook, { ...hook, description: 'once more' }])],
  ['AUTH_WEBHOOK_ENDPOINTS', JSON.stringify([{ ...hook, events: ['user.unheard_of'] }])],
  ['AUTH_DISABLE_SIGNUP', 'perhaps'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['PORT', '0x50'],
  ['AUTH_JWT_EXP', '0'],
  ['AUTH_JWT_EXP', '1.5s'],
  ['AUTH_JWT_EXP', '1mo'],
  ['AUTH_SESSIONS_TIMEBOX', '0s'],
  ['AUTH_SESSIONS_INACTIVITY_TIMEOUT', '-5m'],
  ['AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION', '299s'],
  ['AUTH_PASSWORD_MIN_LENGTH', '5'],
  ['AUTH_MAILER_OTP_LENGTH', '5'],
  ['AUTH_SMS_OTP_LENGTH', '11'],
  ['AUTH_DB_DRIVER', 'mysql'],
  ['AUTH_DB_NAMESPACE', 'auth; drop schema auth'],
  ['AUTH_DB_NAMESPACE', 'Auth'],
  ['AUTH_DB_NAMESPACE', 'a'.repeat(59)],
  ['AUTH_DB_NAMESPACE', 'pg_auth'],
  ['AUTH_DB_NAMESPACE', 'information_schema'],
  ['AUTH_TAKEOVER_ACCEPT_MISSING', 'saml,web2'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_URL', 'localhost'],
  ['AUTH_SITE_URL', 'app.example.test'],
  ['AUTH_SITE_URL', 'javascript:alert(1)'],
  ['AUTH_API_EXTERNAL_URL', 'ftp://a.test'],
  ['AUTH_API_EXTERNAL_URL', 'https:a.test'],
  ['AUTH_API_EXTERNAL_URL', 'https://'],
  ['AUTH_API_PREFIX', 'auth/v1'],
  ['AUTH_API_PREFIX', '/auth?x'],
  ['AUTH_RATE_LIMIT_HEADER', 'X Real IP'],
  ['AUTH_CORS_ALLOWED_HEADERS', 'X-Größe'],
  ['AUTH_CORS_ALLOWED_HEADERS', 'X-A; X-B'],
  ['AUTH_MAILER_EXTERNAL_HOSTS', 'https://auth.example.com'],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', '5/0s'],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', '5/day'],
  ['AUTH_RATE_LIMIT_EMAIL_SENT', '-1'],
  ['AUTH_RATE_LIMIT_OTP', '-1'],
  ['AUTH_JWT_SECRET', 'x'.repeat(31)],
  ['AUTH_JWT_ALGORITHM', 'none'],
  ['AUTH_JWT_ADMIN_ROLES', ','],
  ['AUTH_JWT_KEYS', '{'],
  ['AUTH_JWT_KEYS', '[1]'],
  ['AUTH_JWT_KEYS', '[{"alg":"RS256"}]'],
  ['AUTH_ENCRYPTION_KEY', 'A'.repeat(42)],
  ['AUTH_ENCRYPTION_KEY', `${'A'.repeat(42)}+`],
  ['AUTH_ENCRYPTION_OLD_KEYS', `${key},short`],
  ['AUTH_SMTP_ADMIN_EMAIL', 'unknown'],
  ['AUTH_SMTP_ADMIN_EMAIL', 'a@b.test, c@d.test'],
  ['AUTH_SMTP_HEADERS', '{"X-A":["a\\r\\nBcc: x@y.test"]}'],
  ['AUTH_SMTP_HEADERS', '{"X A":["a"]}'],
  ['AUTH_SMTP_HEADERS', '["a"]'],
  ['AUTH_SMTP_TLS', 'perhaps'],
  ['AUTH_SMS_TEST_OTP', '0123:123456'],
  ['AUTH_SMS_TEST_OTP', '15550100'],
  ['AUTH_SMS_TEST_OTP_VALID_UNTIL', 'tomorrow'],
  ['AUTH_SMS_TEST_OTP_VALID_UNTIL', '2030-13-01T00:00:00Z'],
  ['AUTH_REDIS_URL', 'http://localhost'],
  ['AUTH_WORKERS', '0'],
  ['LOG_LEVEL', 'loud'],
  ['AUTH_HOOK_SEND_SMS_SECRETS', 'v1,whsec_short'],
]

suite('variable values', () => {
  for (const [name, text, value] of right) {
    test(`reads ${name}=${text}`, () => {
      assert.deepEqual(read({ [name]: text }).config[name], value)
    })
  }

  for (const [name, text] of wrong) {
    test(`rejects ${name}=${text}`, () => {
      assert.deepEqual(wrongVariables({ [name]: text }), [name])
    })
  }
})
