/** The doctor’s checks of settings alone. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { checkAddresses, checkProxies } from '../../../cli/doctor/addresses.ts'
import type { Check } from '../../../cli/doctor/finding.ts'
import { checkMail } from '../../../cli/doctor/mail.ts'
import { checkCaptcha, checkDisk, checkSms } from '../../../cli/doctor/services.ts'
import { testConfig } from '../../support/config.ts'
import { createDoctorContext, runCheck } from './doctor-context.ts'

const https = {
  AUTH_SITE_URL: 'https://app.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example/auth/v1',
}
const google = {
  ...https,
  AUTH_EXTERNAL_GOOGLE_ENABLED: 'true',
  AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id',
  AUTH_EXTERNAL_GOOGLE_SECRET: 'secret',
}
const hex = '0123456789abcdef0123456789abcdef'
const twilio = {
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SMS_PROVIDER: 'twilio',
  AUTH_SMS_TWILIO_ACCOUNT_SID: `AC${hex}`,
  AUTH_SMS_TWILIO_AUTH_TOKEN: hex,
  AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: `MG${hex}`,
}
const hcaptcha = {
  AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'hcaptcha',
  AUTH_SECURITY_CAPTCHA_SECRET: `ES_${hex}`,
}
const header = { ...https, AUTH_RATE_LIMIT_HEADER: 'x-real-ip' }

/** The variables, and the beginning of each printed line. */
const cases: [Check, title: string, variables: Record<string, string>, output: RegExp[]][] = [
  [checkAddresses, 'https', https, [/^pass AUTH_SITE_URL/, /^pass AUTH_API_EXTERNAL_URL/]],
  [
    checkAddresses,
    'http URLs, local and remote',
    { AUTH_SITE_URL: 'http://app.example', AUTH_API_EXTERNAL_URL: 'http://localhost:8081' },
    [
      /^fail AUTH_SITE_URL is http:\/\/app\.example: .* Use https\.$/,
      /^warn AUTH_API_EXTERNAL_URL/,
    ],
  ],
  [
    checkAddresses,
    'redirect targets',
    {
      ...https,
      AUTH_URI_ALLOW_LIST:
        'https://a.example/**,https://**.example,http://b.example/x,http://localhost:5173/**,com.app://in',
    },
    [
      /^pass/,
      /^pass/,
      /^warn .*https:\/\/\*\*\.example/,
      /^warn .*http:\/\/b\.example.* unencrypted/,
    ],
  ],
  [
    checkAddresses,
    'a provider that redirects to this server',
    { ...google, AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: 'https://auth.example/auth/v1/callback' },
    [/^pass/, /^pass/, /^pass google/],
  ],
  [
    checkAddresses,
    'a provider that redirects to another host',
    { ...google, AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: 'https://app.example/callback' },
    [
      /^pass/,
      /^pass/,
      /^warn google .* this server is at https:\/\/auth\.example\/auth\/v1\/callback/,
    ],
  ],
  [checkProxies, 'a header of a local proxy', header, [/^pass/, /^warn Only proxies on this/]],
  [
    checkProxies,
    'a header of a remote proxy',
    { ...header, AUTH_TRUSTED_PROXIES: '10.0.0.0/8' },
    [/^pass/],
  ],
  [
    checkProxies,
    'trusted proxies at all addresses',
    { ...header, AUTH_TRUSTED_PROXIES: '0.0.0.0/0' },
    [/^pass/, /^warn AUTH_TRUSTED_PROXIES has 0\.0\.0\.0\/0/],
  ],
  [checkProxies, 'no header', {}, []],
  [checkSms, 'disabled phones', {}, []],
  [
    checkSms,
    'no SMS provider',
    { AUTH_EXTERNAL_PHONE_ENABLED: 'true' },
    [/^fail .*AUTH_SMS_PROVIDER/],
  ],
  [checkSms, 'well-formed credentials', twilio, [/^pass The credentials of twilio/]],
  [
    checkSms,
    'swapped account and token',
    { ...twilio, AUTH_SMS_TWILIO_ACCOUNT_SID: hex, AUTH_SMS_TWILIO_AUTH_TOKEN: `AC${hex}` },
    [/^warn AUTH_SMS_TWILIO_ACCOUNT_SID .*AC and 32/, /^warn AUTH_SMS_TWILIO_AUTH_TOKEN/],
  ],
  [checkCaptcha, 'no captcha', {}, [/^warn Sign-up is open without a captcha/]],
  [checkCaptcha, 'no captcha and disabled sign-ups', { AUTH_DISABLE_SIGNUP: 'true' }, []],
  [checkCaptcha, 'a well-formed secret', hcaptcha, [/^pass/]],
  [
    checkCaptcha,
    'the test secret of hCaptcha',
    { ...hcaptcha, AUTH_SECURITY_CAPTCHA_SECRET: `0x${'0'.repeat(40)}` },
    [/^fail .*is a published test secret/],
  ],
  [
    checkCaptcha,
    'the test secret of Turnstile',
    {
      ...hcaptcha,
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
      AUTH_SECURITY_CAPTCHA_SECRET: '1x0000000000000000000000000000000AA',
    },
    [/^fail .*is a published test secret/],
  ],
  [
    checkCaptcha,
    'the site key instead of the secret',
    { ...hcaptcha, AUTH_SECURITY_CAPTCHA_SECRET: '10000000-ffff-ffff-ffff-000000000001' },
    [/^warn .*does not look like a secret of hcaptcha/],
  ],
  [checkDisk, 'a log on standard output', {}, []],
  [checkDisk, 'an existing folder', { AUTH_LOG_FILE: '/tmp/auth.log' }, [/^(pass|warn) \/tmp has/]],
  [
    checkDisk,
    'a missing folder',
    { AUTH_LOG_FILE: '/nowhere/auth.log' },
    [/^fail .*\/nowhere \(ENOENT\)/],
  ],
]

test('sms and mail of a development server are in its inbox', async (t) => {
  const config = testConfig({ AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
  for (const check of [checkSms, checkMail]) {
    const [line, ...others] = await runCheck(check, createDoctorContext(t, {}, { config }))
    assert.match(line ?? '', /^pass In development .* inbox\.$/)
    assert.deepEqual(others, [])
  }
})

suite('doctor: settings', () => {
  for (const [check, title, variables, output] of cases) {
    test(`${check.name} ${describeOutcome(output)} for ${title}`, async (t) => {
      const lines = await runCheck(check, createDoctorContext(t, variables))
      assert.equal(lines.length, output.length, lines.join('\n'))
      for (const [index, line] of lines.entries()) assert.match(line, output[index] ?? /^$/)
      const secrets = Object.entries(variables).filter(([name]) => /SECRET|TOKEN/.test(name))
      for (const [, secret] of secrets) assert.ok(!lines.join().includes(secret), 'a secret')
    })
  }
})

/** By the worst level of the expected lines. */
function describeOutcome(output: readonly RegExp[]): string {
  const starts = output.map(({ source }) => source.slice(0, 5))
  if (starts.length === 0) return 'prints nothing'
  if (starts.includes('^fail')) return 'fails'
  return starts.includes('^warn') ? 'warns' : 'passes'
}
