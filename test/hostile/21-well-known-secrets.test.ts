/** A secret that stands in somebody's documentation, or that anybody can think of, is none: the start is refused. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parseEnv } from 'node:util'

import { ConfigError, type Mistake } from '../../plugins/config/mistake.ts'
import { startCli } from '../support/cli-process.ts'
import { configOf } from '../support/config.ts'

const jwt = 'AUTH_JWT_SECRET'
const encryption = 'AUTH_ENCRYPTION_KEY'
const demo = 'super-secret-jwt-token-with-at-least-32-characters-long'
const base64url = (text: string) => Buffer.from(text).toString('base64url')

const guessed: Record<string, string> = {
  'of a local Supabase': demo,
  'of the Supabase containers': `your-${demo}`,
  'the same in capitals': demo.toUpperCase(),
  'the same with something behind it': `${demo}-2`,
  'the same without hyphens': 'supersecretjwttokenwithatleast32characterslong',
  'of jwt.io': 'a-string-secret-at-least-256-bits-long',
  'of the documentation of PostgREST': 'reallyreallyreallyreallyverysafe',
  'asking to be changed': 'please-CHANGE-ME-please-change-me',
  'asking to be replaced': 'replace-this-with-a-random-secret',
  'standing for another': 'your-secret-key-goes-right-in-here',
  'one letter': 'x'.repeat(32),
  'one word': 'secret'.repeat(6),
  'one sentence, again and again': 'a secret word; '.repeat(4),
  'two letters in no order': 'abbabaaabbbabababaababbaabbabbab',
  'in a row': 'abcdefghijklmnopqrstuvwxyz0123456789',
  'in a row, backwards': '9876543210zyxwvutsrqponmlkjihgfedcba',
  'in a row, twice': '0123456789abcdef0123456789abcdef',
  'as base64': base64url(demo),
}

const right = [`${'a'.repeat(12)}kJ8-z_Qw3R`, 'only-for-tests-and-long-enough-to-pass'].concat(
  Array.from({ length: 200 }, () => randomBytes(32).toString('base64url')),
  Array.from({ length: 200 }, () => randomBytes(16).toString('hex')),
)

suite('AUTH_JWT_SECRET', () => {
  for (const [what, secret] of Object.entries(guessed)) {
    test(`${what}: the start is refused, with a way out`, () => {
      const [mistake, ...more] = mistakesOf({ [jwt]: secret })
      assert.deepEqual(more, [])
      assert.equal(mistake?.variable, jwt)
      assert.match(mistake.remedy, /npm run secrets/)
      assert.ok(!JSON.stringify(mistake).includes(secret))
    })
    test(`${what}: good enough for development`, () => {
      assert.ok(configOf({ [jwt]: secret }, true))
    })
  }

  test('of few characters, and in a row: the reason is true', () => {
    for (const secret of ['short', 'abcdefghijklmnopqrstuvwxyz0123456789']) {
      const [mistake] = mistakesOf({ [jwt]: secret })
      assert.match(
        mistake?.problem ?? '',
        /^can be guessed, because its characters are few, repeat or follow/,
      )
    }
  })

  test('random ones, and those of these tests, are right', () => {
    for (const secret of right) {
      assert.deepEqual(mistakesOf({ [jwt]: secret.padEnd(32, 'q7K-') }), [])
    }
  })

  test('under the name of another server it is refused by that name', () => {
    const mistakes = mistakesOf({ AUTH_JWT_SECRET: '', GOTRUE_JWT_SECRET: demo })
    assert.deepEqual(
      mistakes.map(({ variable }) => variable),
      ['GOTRUE_JWT_SECRET'],
    )
  })
})

suite('other secrets', () => {
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
      'a key of the tests of GoTrue',
      { [encryption]: 'pwFoiPyybQMqNmYVN0gUnpbfpGQV2sDv9vp0ZAxi_Y4' },
      encryption,
    ],
    [
      'bytes in a row',
      { [encryption]: Buffer.from([...Array(32).keys()]).toString('base64url') },
      encryption,
    ],
    [
      'the JWT secret once more',
      { [jwt]: `${secret}AbCdEfGhIjK`, [encryption]: `${secret}AbCdEfGhIjK` },
      encryption,
    ],
    ['the JWT secret as bytes', { [jwt]: secret, [encryption]: base64url(secret) }, encryption],
    ['a known secret as JWK', keys(oct(demo)), 'AUTH_JWT_KEYS'],
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
      'a captcha that everybody solves',
      captcha('turnstile', '1x0000000000000000000000000000000AA'),
      'AUTH_SECURITY_CAPTCHA_SECRET',
    ],
    [
      'the same of the other provider',
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
    test(`${variable}, ${what}: refused`, () => {
      assert.deepEqual(
        mistakesOf(env).map((mistake) => mistake.variable),
        [variable],
      )
      assert.ok(configOf(env, true))
    })
  }

  test('random keys are right', () => {
    const key = () => randomBytes(32).toString('base64url')
    for (let round = 0; round < 100; round++) {
      assert.deepEqual(mistakesOf({ [jwt]: key(), [encryption]: key() }), [])
    }
    assert.deepEqual(mistakesOf(keys(oct(key()))), [])
    assert.deepEqual(mistakesOf(captcha('turnstile', '0x4AAAAAAAx9kqP3mZr7TsVb2NcYd81wQeL')), [])
  })
})

suite('npm start', () => {
  test('with a published secret says which one, and what makes another', async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'postern-secrets-'))
    t.after(() => rmSync(cwd, { recursive: true }))
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

  test('.env.example holds no secret that would do', () => {
    const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
    const commented = parseEnv(example.replace(/^# ([A-Z_]+=)/gm, '$1'))
    for (const name of [jwt, encryption]) assert.equal(commented[name], '', name)
  })
})

function mistakesOf(env: Record<string, string>): readonly Mistake[] {
  try {
    configOf(env, false)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}
