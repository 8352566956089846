/** Published and predictable secrets are rejected at startup. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parseEnv } from 'node:util'

import { ConfigError, type ConfigIssue } from '../../../config/core/config-error.ts'
import { testConfig } from '../../support/config.ts'
import { startCli } from '../../support/processes/cli-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'

const jwt = 'AUTH_JWT_SECRET'
const encryption = 'AUTH_ENCRYPTION_KEY'
const demo = 'super-secret-jwt-token-with-at-least-32-characters-long'
const base64url = (text: string) => Buffer.from(text).toString('base64url')

const attempted: Record<string, string> = {
  'the secret of a local Supabase': demo,
  'the secret of the Supabase containers': `your-${demo}`,
  'a published secret in capitals': demo.toUpperCase(),
  'a published secret with a suffix': `${demo}-2`,
  'a published secret without hyphens': 'supersecretjwttokenwithatleast32characterslong',
  'the secret of jwt.io': 'a-string-secret-at-least-256-bits-long',
  'the secret of the PostgREST documentation': 'reallyreallyreallyreallyverysafe',
  'a placeholder with "change me"': 'please-CHANGE-ME-please-change-me',
  'a placeholder with "replace"': 'replace-this-with-a-random-secret',
  'a placeholder with "goes here"': 'your-secret-key-goes-right-in-here',
  'one repeated letter': 'x'.repeat(32),
  'one repeated word': 'secret'.repeat(6),
  'one repeated sentence': 'a secret word; '.repeat(4),
  'two letters in random order': 'abbabaaabbbabababaababbaabbabbab',
  'a sequence': 'abcdefghijklmnopqrstuvwxyz0123456789',
  'a reversed sequence': '9876543210zyxwvutsrqponmlkjihgfedcba',
  'a repeated sequence': '0123456789abcdef0123456789abcdef',
  'sequences with changes': '01234567-89abcdef-76543210-fedcba98',
  'four hexadecimal digits in random order': 'badcabbadaccbadabcdacabdbbdcadca',
  'a published secret as base64': base64url(demo),
}

/** From `openssl rand -hex 16`, found among 10^8: few distinct digits, and many neighbours. */
const unusual = [
  'ee1151301e9933459391154049e4e0e5',
  '0cbb53fccbd53b33bc5b3d000dc0d0bb',
  'e4bbb01aaab16bb44555c821788d5abc',
  '7e3432676fbaaffe210fc6b499887846',
  '4455650d0005ab5004e0844334569339',
  '4455650d-0005-ab50-04e0-844334569339',
  '4455650D0005AB5004E0844334569339',
]

const right = [
  `${'a'.repeat(12)}kJ8-z_Qw3R`,
  'only-for-tests-and-long-enough-to-pass',
  ...unusual,
].concat(
  Array.from({ length: 200 }, (_, at) => asRandom(at).toString('base64url')),
  Array.from({ length: 200 }, (_, at) => asRandom(at).toString('hex', 0, 16)),
)

suite('AUTH_JWT_SECRET', () => {
  for (const [what, secret] of Object.entries(attempted)) {
    test(`rejects ${what} at startup and suggests a command`, () => {
      const [invalid, ...more] = readIssues({ [jwt]: secret })
      assert.deepEqual(more, [])
      assert.equal(invalid?.variable, jwt)
      assert.match(invalid.hint, /npm run secrets/)
      assert.ok(!JSON.stringify(invalid).includes(secret))
    })
    test(`accepts ${what} in development`, () => {
      assert.ok(testConfig({ [jwt]: secret }, true))
    })
  }

  test('names the length of a short secret and the sequence of a predictable one', () => {
    for (const secret of ['short', 'abcdefghijklmnopqrstuvwxyz0123456789']) {
      const [invalid] = readIssues({ [jwt]: secret })
      assert.match(
        invalid?.problem ?? '',
        /^is guessable, because it has few distinct characters, repetitions/,
      )
    }
  })

  test('accepts random secrets and the secrets of the tests', () => {
    for (const secret of right) {
      assert.deepEqual(readIssues({ [jwt]: secret.padEnd(32, 'q7K-') }), [])
    }
  })

  test('names a rejected secret by its GoTrue variable', () => {
    const invalidCases = readIssues({ AUTH_JWT_SECRET: '', GOTRUE_JWT_SECRET: demo })
    assert.deepEqual(
      invalidCases.map(({ variable }) => variable),
      ['GOTRUE_JWT_SECRET'],
    )
  })
})

suite('encryption keys, JWKs and other secrets', () => {
  const secret = 'Zb3-8sQpL0vWc_7uRtYx1KmNdEfGhJa5'
  const ec = { kty: 'EC', alg: 'ES256', crv: 'P-256', key_ops: ['sign', 'verify'] }
  const oct = (text: string) => ({
    kty: 'oct',
    alg: 'HS256',
    key_ops: ['sign'],
    k: base64url(text),
  })
  const published = {
    x: 'M5Sjqn5zwC9Kl1zVfUUGvv9boQjCGd45G8sdopBExB4',
    y: 'P6IXMvA2WYXSHSOMTBH2jsw_9rrzGy89FjPf6oOsIxQ',
    d: 'dIhR8wywJlqlua4y_yMq2SLhlFXDZJBCvFrY1DCHyVU',
  }
  const captcha = (provider: string, value: string) => ({
    AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_PROVIDER: provider,
    AUTH_SECURITY_CAPTCHA_SECRET: value,
  })
  const keys = (...jwks: object[]) => ({ AUTH_JWT_KEYS: JSON.stringify(jwks) })

  const wrong: [what: string, env: Record<string, string>, variable: string][] = [
    ['zeros', { [encryption]: 'A'.repeat(43) }, encryption],
    [
      'a key of GoTrue’s tests',
      { [encryption]: 'pwFoiPyybQMqNmYVN0gUnpbfpGQV2sDv9vp0ZAxi_Y4' },
      encryption,
    ],
    [
      'sequential bytes',
      { [encryption]: Buffer.from([...Array(32).keys()]).toString('base64url') },
      encryption,
    ],
    [
      'the JWT secret again',
      { [jwt]: `${secret}AbCdEfGhIjK`, [encryption]: `${secret}AbCdEfGhIjK` },
      encryption,
    ],
    ['the JWT secret as bytes', { [jwt]: secret, [encryption]: base64url(secret) }, encryption],
    ['a published secret as JWK', keys(oct(demo)), 'AUTH_JWT_KEYS'],
    [
      'the JWT secret as JWK and encryption key',
      { ...keys(oct(secret)), [encryption]: base64url(secret) },
      encryption,
    ],
    ['the signing key of a local Supabase', keys({ ...ec, ...published }), 'AUTH_JWT_KEYS'],
    [
      'the key of RFC 7517',
      keys({
        ...ec,
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
        d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
      }),
      'AUTH_JWT_KEYS',
    ],
    [
      'an always-passing Turnstile secret',
      captcha('turnstile', '1x0000000000000000000000000000000AA'),
      'AUTH_SECURITY_CAPTCHA_SECRET',
    ],
    [
      'an always-passing hCaptcha secret',
      captcha('hcaptcha', '0x0000000000000000000000000000000000000000'),
      'AUTH_SECURITY_CAPTCHA_SECRET',
    ],
    [
      'the password of the Supabase containers',
      { DATABASE_URL: 'postgres://a:your-super-secret-and-long-postgres-password@h/d' },
      'DATABASE_URL',
    ],
  ]
  for (const [what, env, variable] of wrong) {
    test(`${variable} rejects ${what}`, () => {
      assert.deepEqual(
        readIssues(env).map((invalid) => invalid.variable),
        [variable],
      )
      assert.ok(testConfig(env, true))
    })
  }

  test('accepts random keys', () => {
    const key = (at: number) => asRandom(at).toString('base64url')
    for (let round = 0; round < 100; round++) {
      assert.deepEqual(readIssues({ [jwt]: key(round), [encryption]: key(-1 - round) }), [])
    }
    assert.deepEqual(readIssues(keys(oct(key(0)))), [])
    assert.deepEqual(readIssues(captcha('turnstile', '0x4AAAAAAAx9kqP3mZr7TsVb2NcYd81wQeL')), [])
  })
})

suite('npm start', () => {
  test('names a published secret and the command for a new one', async (t) => {
    const cwd = temporaryFolder(t, 'secrets')
    const env = {
      AUTH_SITE_URL: 'http://app.example',
      AUTH_API_EXTERNAL_URL: 'http://auth.example',
      AUTH_DB_DRIVER: 'postgres',
      DATABASE_URL: 'postgres://unused@127.0.0.1:9/unused',
      [jwt]: demo,
    }
    const { written, ended } = startCli(t, ['serve'], { cwd, env })
    assert.equal(await ended, 1)
    assert.match(written.err, /AUTH_JWT_SECRET is published.*npm run secrets/)
    assert.ok(!written.err.includes(demo))
  })

  test('.env.example contains no usable secret', () => {
    const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')
    const commented = parseEnv(example.replace(/^# ([A-Z_]+=)/gm, '$1'))
    for (const name of [jwt, encryption]) assert.equal(commented[name], '', name)
  })
})

/** 32 bytes, the same in each run. */
function asRandom(at: number): Buffer {
  return createHash('sha256').update(String(at)).digest()
}

function readIssues(env: Record<string, string>): readonly ConfigIssue[] {
  try {
    testConfig(env, false)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
}
