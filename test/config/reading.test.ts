import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'

import { ConfigError } from '../../config/core/config-error.ts'
import { withDotEnv } from '../../config/dot-env.ts'
import type { Environment } from '../../config/names.ts'
import { readConfig } from '../../config/read-config.ts'
import { nearestName } from '../../schemas/values/nearest-name.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { issuesIn, minimalEnvironment, read } from './environment.ts'

suite('readConfig', () => {
  test('lists all required variables of an empty environment in one error', () => {
    const warn = () => assert.fail('a wrong configuration gives no notices')
    assert.throws(
      () => readConfig({}, { dev: false, warn }),
      (error) => {
        assert.ok(error instanceof ConfigError)
        const names = error.issues.map(({ variable }) => variable)
        assert.deepEqual(names.sort(), Object.keys(minimalEnvironment).sort())
        for (const name of names) {
          assert.match(error.message, new RegExp(`^  ${name} is not set`, 'm'))
        }
        return true
      },
    )
  })

  test('reports errors of variables and rules together', () => {
    const env = { PORT: 'http', AUTH_JWT_EXP: 'soon', AUTH_HOOK_SEND_SMS_ENABLED: 'true' }
    const names = issuesIn(env).map(({ variable }) => variable)
    assert.deepEqual(names.sort(), ['AUTH_HOOK_SEND_SMS_URI', 'AUTH_JWT_EXP', 'PORT'])
  })

  test('reports the value and the accepted values', () => {
    const [invalid] = issuesIn({ AUTH_PASSWORD_MIN_LENGTH: '5' })
    assert.equal(invalid?.problem, 'is "5"')
    assert.equal(invalid?.hint, 'it must be a whole number, 6 to 1024')
  })

  test('names the variable that the operator set', () => {
    assert.deepEqual(
      issuesIn({ AUTH_API_PORT: 'http', GOTRUE_JWT_EXP: 'soon' }).map((m) => m.variable),
      ['AUTH_API_PORT', 'GOTRUE_JWT_EXP'],
    )
  })

  test('prints no secret', () => {
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
    const invalidCases = issuesIn(Object.fromEntries(names.map((name) => [name, secret])))
    assert.equal(invalidCases.length, names.length)
    assert.ok(!JSON.stringify(invalidCases).includes(secret))
  })

  test('has a key for each variable, set or not', () => {
    const { config } = read({})
    assert.ok('AUTH_SMTP_HOST' in config)
    assert.equal(config.AUTH_SMTP_HOST, undefined)
    assert.equal(config.dev, false)
    assert.equal(read({}, true).config.dev, true)
  })

  test('does not share defaults between configurations', () => {
    read({}).config.AUTH_JWT_ADMIN_ROLES.push('intruder')
    assert.ok(!read({}).config.AUTH_JWT_ADMIN_ROLES.includes('intruder'))
  })
})

suite('variable names', () => {
  const table: [string, Environment, number][] = [
    ['PORT', { PORT: '1' }, 1],
    ['AUTH_API_PORT', { AUTH_API_PORT: '2' }, 2],
    ['PORT before AUTH_API_PORT', { PORT: '1', AUTH_API_PORT: '2' }, 1],
    ['an empty PORT counts as unset', { PORT: '', AUTH_API_PORT: '2' }, 2],
    ['neither', {}, 8081],
  ]
  for (const [what, env, port] of table) {
    test(`port: ${what}`, () => {
      const { config, notices } = read(env, true)
      assert.equal(config.PORT, port)
      assert.deepEqual(notices, [])
    })
  }

  test('reads GoTrue’s names with one notice', () => {
    const { config, notices } = read(
      {
        AUTH_API_EXTERNAL_URL: undefined,
        API_EXTERNAL_URL: 'https://peer.test',
        GOTRUE_JWT_EXP: '60',
        DB_NAMESPACE: 'members',
        REQUEST_ID_HEADER: 'X-Id',
        GOTRUE_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true',
      },
      true,
    )
    assert.equal(config.AUTH_API_EXTERNAL_URL, 'https://peer.test')
    assert.equal(config.AUTH_JWT_EXP, 60)
    assert.equal(config.AUTH_DB_NAMESPACE, 'members')
    assert.equal(config.AUTH_REQUEST_ID_HEADER, 'X-Id')
    assert.equal(config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED, true)
    assert.equal(notices.length, 1)
    for (const name of ['API_EXTERNAL_URL', 'GOTRUE_JWT_EXP', 'DB_NAMESPACE']) {
      assert.match(notices[0] ?? '', new RegExp(`\\b${name} as AUTH_`))
    }
  })

  test('prefers AUTH_ names without a notice', () => {
    const { config, notices } = read({ AUTH_JWT_EXP: '1', GOTRUE_JWT_EXP: '2' }, true)
    assert.equal(config.AUTH_JWT_EXP, 1)
    assert.deepEqual(notices, [])
  })

  test('notes an HTTP hook without a secret, not a database function', () => {
    const hook = { AUTH_HOOK_SEND_SMS_ENABLED: 'true' }
    const readNotices = (uri: string, more = {}) =>
      read({ ...hook, AUTH_HOOK_SEND_SMS_URI: uri, ...more }, true).notices
    const secret = `v1,whsec_${Buffer.alloc(32).toString('base64')}`
    assert.match(
      String(readNotices('https://hooks.test/')),
      /^AUTH_HOOK_SEND_SMS_SECRETS is not set/,
    )
    assert.deepEqual(readNotices('https://hooks.test/', { AUTH_HOOK_SEND_SMS_SECRETS: secret }), [])
    assert.deepEqual(readNotices('pg-functions://postgres/public/send'), [])
  })

  test('suggests the nearest name for an unknown variable', () => {
    const { notices } = read({ AUTH_SMTP_HOTS: 'x', AUTH_SECRET: 'y', OTHER_VARIABLE: 'z' }, true)
    assert.deepEqual(notices, [
      'AUTH_SMTP_HOTS is not a known variable; did you mean AUTH_SMTP_HOST?',
      'AUTH_SECRET is not a known variable.',
    ])
  })

  test('suggests a name for a missing prefix or a typo', () => {
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

  test('suggests a similar name that is set for a missing required variable', () => {
    const env = { SITE_URL: 'https://a.test', DATABSE_URL: 'postgres://a@b/c' }
    const invalidCases = issuesIn({ ...env, AUTH_SITE_URL: '', DATABASE_URL: '' })
    assert.deepEqual(
      invalidCases.map(({ variable, problem }) => `${variable} ${problem}`),
      [
        'AUTH_SITE_URL is not set (is SITE_URL a typo?)',
        'DATABASE_URL is not set (is DATABSE_URL a typo?)',
      ],
    )
  })

  test('finds the nearest name by edit distance', () => {
    const known = ['AUTH_SMTP_HOST', 'AUTH_SMTP_PORT']
    assert.equal(nearestName('AUTH_SMTP_PROT', known), 'AUTH_SMTP_PORT')
    assert.equal(nearestName('AUTH_SMTP_HOS', known), 'AUTH_SMTP_HOST')
    assert.equal(nearestName('auth_smtp_hots', known), 'AUTH_SMTP_HOST')
    assert.equal(nearestName('AUTH_SMTP_PROT', known, 1), undefined)
    assert.equal(nearestName('AUTH_UNRELATED', known), undefined)
  })
})

suite('notices', () => {
  test('list missing production settings', () => {
    const { notices } = read({ AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
    const names = notices.map((notice) => notice.split(' ')[0])
    assert.deepEqual(names, [
      'AUTH_ENCRYPTION_KEY',
      'AUTH_SMTP_HOST',
      'AUTH_SMS_PROVIDER',
      'AUTH_RATE_LIMIT_HEADER',
    ])
  })

  test('accept inherited variables in one notice', () => {
    const { notices } = read(
      {
        AUTH_MULTI_INSTANCE_MODE: 'false',
        OPERATOR_TOKEN: 'unsafe',
        API_ENDPOINT: 'https://x.test',
        AUTH_JWT_ADMIN_GROUP_NAME: 'admin',
        AUTH_JWT_DEFAULT_GROUP_NAME: 'members',
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
  const folder = temporaryFolder({ after }, 'env')
  const file = join(folder, '.env')
  writeFileSync(file, '# comment\nPORT=1\nexport AUTH_JWT_EXP="2h" # note\nAUTH_SITE_URL=\'a#b\'\n')

  test('fills in variables that the environment does not set', () => {
    const env = withDotEnv({ PORT: '2' }, file)
    assert.deepEqual(env, { PORT: '2', AUTH_JWT_EXP: '2h', AUTH_SITE_URL: 'a#b' })
  })

  test('accepts a missing file', () => {
    assert.deepEqual(withDotEnv({ PORT: '2' }, join(folder, 'none')), { PORT: '2' })
  })

  test('rejects an unreadable file', () => {
    assert.throws(() => withDotEnv({}, folder), ConfigError)
  })
})
