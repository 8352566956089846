import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { withDotEnv } from '../../../plugins/config/dot-env.ts'
import { ConfigError } from '../../../plugins/config/mistake.ts'
import type { Environment } from '../../../plugins/config/names.ts'
import { nearestName } from '../../../plugins/config/nearest-name.ts'
import { readConfig } from '../../../plugins/config/read-config.ts'
import { leastEnvironment, mistakesIn, read } from './environment.ts'

suite('reading the configuration', () => {
  test('an empty environment is told everything that must be set, in one error', () => {
    const warn = () => assert.fail('a wrong configuration gives no notices')
    assert.throws(
      () => readConfig({}, { dev: false, warn }),
      (error) => {
        assert.ok(error instanceof ConfigError)
        const names = error.mistakes.map(({ variable }) => variable)
        assert.deepEqual(names.sort(), Object.keys(leastEnvironment).sort())
        for (const name of names) {
          assert.match(error.message, new RegExp(`^  ${name} is not set`, 'm'))
        }
        return true
      },
    )
  })

  test('mistakes of single variables and of rules come together', () => {
    const env = { PORT: 'http', AUTH_JWT_EXP: 'soon', AUTH_HOOK_SEND_SMS_ENABLED: 'true' }
    const names = mistakesIn(env).map(({ variable }) => variable)
    assert.deepEqual(names.sort(), ['AUTH_HOOK_SEND_SMS_URI', 'AUTH_JWT_EXP', 'PORT'])
  })

  test('a mistake says what is there and what would be right', () => {
    const [mistake] = mistakesIn({ AUTH_PASSWORD_MIN_LENGTH: '5' })
    assert.equal(mistake?.problem, 'is "5"')
    assert.equal(mistake?.remedy, 'it must be a whole number, 6 to 1024')
  })

  test('a mistake is blamed on the name that the operator used', () => {
    assert.deepEqual(
      mistakesIn({ AUTH_API_PORT: 'http', GOTRUE_JWT_EXP: 'soon' }).map((m) => m.variable),
      ['AUTH_API_PORT', 'GOTRUE_JWT_EXP'],
    )
  })

  test('no message shows a secret', () => {
    const secret = 'hunter2'
    const names = [
      'AUTH_JWT_SECRET',
      'DATABASE_URL',
      'AUTH_ENCRYPTION_KEY',
      'AUTH_JWT_KEYS',
      'AUTH_REDIS_URL',
      'AUTH_HOOK_SEND_SMS_SECRETS',
      'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS',
    ]
    const mistakes = mistakesIn(Object.fromEntries(names.map((name) => [name, secret])))
    assert.equal(mistakes.length, names.length)
    assert.ok(!JSON.stringify(mistakes).includes(secret))
  })

  test('every variable has its key, set or not', () => {
    const { config } = read({})
    assert.ok('AUTH_SMTP_HOST' in config)
    assert.equal(config.AUTH_SMTP_HOST, undefined)
    assert.equal(config.dev, false)
    assert.equal(read({}, true).config.dev, true)
  })

  test('defaults are not shared between configurations', () => {
    read({}).config.AUTH_JWT_ADMIN_ROLES.push('intruder')
    assert.ok(!read({}).config.AUTH_JWT_ADMIN_ROLES.includes('intruder'))
  })
})

suite('names', () => {
  const table: [string, Environment, number][] = [
    ['PORT', { PORT: '1' }, 1],
    ['AUTH_API_PORT', { AUTH_API_PORT: '2' }, 2],
    ['PORT before AUTH_API_PORT', { PORT: '1', AUTH_API_PORT: '2' }, 1],
    ['an empty one counts as not set', { PORT: '', AUTH_API_PORT: '2' }, 2],
    ['neither', {}, 8081],
  ]
  for (const [what, env, port] of table) {
    test(`the port: ${what}`, () => {
      const { config, notices } = read(env, true)
      assert.equal(config.PORT, port)
      assert.deepEqual(notices, [])
    })
  }

  test('another server’s names are read, with one notice that lists them', () => {
    const { config, notices } = read(
      {
        AUTH_API_EXTERNAL_URL: undefined,
        API_EXTERNAL_URL: 'https://peer.test',
        GOTRUE_JWT_EXP: '60',
        DB_NAMESPACE: 'people',
        REQUEST_ID_HEADER: 'X-Id',
        GOTRUE_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true',
      },
      true,
    )
    assert.equal(config.AUTH_API_EXTERNAL_URL, 'https://peer.test')
    assert.equal(config.AUTH_JWT_EXP, 60)
    assert.equal(config.AUTH_DB_NAMESPACE, 'people')
    assert.equal(config.AUTH_REQUEST_ID_HEADER, 'X-Id')
    assert.equal(config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED, true)
    assert.equal(notices.length, 1)
    for (const name of ['API_EXTERNAL_URL', 'GOTRUE_JWT_EXP', 'DB_NAMESPACE']) {
      assert.match(notices[0] ?? '', new RegExp(`\\b${name} as AUTH_`))
    }
  })

  test('our name wins over another server’s, without a notice', () => {
    const { config, notices } = read({ AUTH_JWT_EXP: '1', GOTRUE_JWT_EXP: '2' }, true)
    assert.equal(config.AUTH_JWT_EXP, 1)
    assert.deepEqual(notices, [])
  })

  test('a hook over HTTP without a secret is a notice, a database function is none', () => {
    const hook = { AUTH_HOOK_SEND_SMS_ENABLED: 'true' }
    const noticesOf = (uri: string, more = {}) =>
      read({ ...hook, AUTH_HOOK_SEND_SMS_URI: uri, ...more }, true).notices
    const secret = `v1,whsec_${Buffer.alloc(32).toString('base64')}`
    assert.match(String(noticesOf('https://hooks.test/')), /^AUTH_HOOK_SEND_SMS_SECRETS is not set/)
    assert.deepEqual(noticesOf('https://hooks.test/', { AUTH_HOOK_SEND_SMS_SECRETS: secret }), [])
    assert.deepEqual(noticesOf('pg-functions://postgres/public/send'), [])
  })

  test('an unknown variable is named with the nearest known one', () => {
    const { notices } = read({ AUTH_SMTP_HOTS: 'x', AUTH_SECRET: 'y', OTHER_VARIABLE: 'z' }, true)
    assert.deepEqual(notices, [
      'AUTH_SMTP_HOTS is not a known variable; did you mean AUTH_SMTP_HOST?',
      'AUTH_SECRET is not a known variable.',
    ])
  })

  test('a name without its prefix, or with a slip, is told', () => {
    const { notices } = read(
      { SMTP_SENDER_NAME: 'x', LOG_LEVLE: 'y', JWT_EXP: '1', OTHER: 'z' },
      true,
    )
    assert.deepEqual(notices, [
      'JWT_EXP is not read by this server; did you mean AUTH_JWT_EXP?',
      'SMTP_SENDER_NAME is not read by this server; did you mean AUTH_SMTP_SENDER_NAME?',
      'LOG_LEVLE is not read by this server; did you mean LOG_LEVEL?',
    ])
  })

  test('what must be set, and is under a name that is like it, is told with that name', () => {
    const env = { SITE_URL: 'https://a.test', DATABSE_URL: 'postgres://a@b/c' }
    const mistakes = mistakesIn({ ...env, AUTH_SITE_URL: '', DATABASE_URL: '' })
    assert.deepEqual(
      mistakes.map(({ variable, problem }) => `${variable} ${problem}`),
      [
        'AUTH_SITE_URL is not set (is SITE_URL meant to be it?)',
        'DATABASE_URL is not set (is DATABSE_URL meant to be it?)',
      ],
    )
  })

  test('the nearest name is the one with the fewest edits, if any is near', () => {
    const known = ['AUTH_SMTP_HOST', 'AUTH_SMTP_PORT']
    assert.equal(nearestName('AUTH_SMTP_PROT', known), 'AUTH_SMTP_PORT')
    assert.equal(nearestName('AUTH_SMTP_HOS', known), 'AUTH_SMTP_HOST')
    assert.equal(nearestName('AUTH_UNRELATED', known), undefined)
  })
})

suite('notices', () => {
  test('a production server hears what is left out', () => {
    const { notices } = read({ AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
    const names = notices.map((notice) => notice.split(' ')[0])
    assert.deepEqual(names, ['AUTH_SMTP_HOST', 'AUTH_SMS_PROVIDER', 'AUTH_RATE_LIMIT_HEADER'])
  })

  test('inherited variables are accepted with one notice', () => {
    const { notices } = read(
      {
        AUTH_MULTI_INSTANCE_MODE: 'false',
        OPERATOR_TOKEN: 'unsafe',
        API_ENDPOINT: 'https://x.test',
        AUTH_JWT_ADMIN_GROUP_NAME: 'admin',
        AUTH_JWT_DEFAULT_GROUP_NAME: 'people',
      },
      true,
    )
    assert.equal(notices.length, 1)
    for (const name of ['AUTH_MULTI_INSTANCE_MODE', 'OPERATOR_TOKEN', 'API_ENDPOINT']) {
      assert.ok(notices[0]?.includes(name))
    }
    assert.ok(notices[0]?.includes('AUTH_JWT_ADMIN_GROUP_NAME'))
    assert.ok(notices[0]?.includes('AUTH_JWT_DEFAULT_GROUP_NAME'))
    assert.ok(!notices[0]?.includes('unsafe'))
  })
})

suite('.env', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-env-'))
  const file = join(folder, '.env')
  writeFileSync(file, '# comment\nPORT=1\nexport AUTH_JWT_EXP="2h" # note\nAUTH_SITE_URL=\'a#b\'\n')

  test('the file fills in, and the environment wins', () => {
    const env = withDotEnv({ PORT: '2' }, file)
    assert.deepEqual(env, { PORT: '2', AUTH_JWT_EXP: '2h', AUTH_SITE_URL: 'a#b' })
  })

  test('no file is no mistake', () => {
    assert.deepEqual(withDotEnv({ PORT: '2' }, join(folder, 'none')), { PORT: '2' })
  })

  test('a file that cannot be read is one', () => {
    assert.throws(() => withDotEnv({}, folder), ConfigError)
  })
})
